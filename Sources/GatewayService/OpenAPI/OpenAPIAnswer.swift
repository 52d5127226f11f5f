import HTTPJSON
import HTTPTypes
import JOSE

extension OpenAPI {
    /// An answer that is no problem.
    struct Answer: Sendable {
        /// Its name among the document's components; nil for one that stands where it is given.
        let component: String?
        let description: String
        /// What its JSON is; nil for no body.
        let schema: Schema?

        /// An answer that one operation gives.
        init(_ description: String, _ schema: Schema? = nil) {
            self.init(component: nil, description: description, schema: schema)
        }

        private init(component: String?, description: String, schema: Schema?) {
            self.component = component
            self.description = description
            self.schema = schema
        }

        /// An answer that several operations give, or one operation by several statuses: it is a component with the name of
        /// its schema.
        static func shared(_ description: String, _ schema: Schema) -> Answer {
            Answer(component: schema.name, description: description, schema: schema)
        }

        var json: JSONObject {
            var json: JSONObject = [
                "description": .string(description), "headers": .object(OpenAPI.references([.requestID])),
            ]
            if let schema { json["content"] = .object(OpenAPI.content("application/json", schema)) }
            return json
        }
    }

    /// References to header fields, by their names.
    static func references(_ headers: [Header]) -> JSONObject {
        var json = JSONObject()
        for header in headers {
            json[header.name.rawName] = ["$ref": .string("#/components/headers/\(header.component)")]
        }
        return json
    }
}

extension OpenAPI.Header {
    /// What every answer has.
    static let requestID = Self(
        component: "RequestID",
        name: .requestID,
        schema: .text(pattern: "^[A-Za-z0-9._-]{1,128}$"),
        description: "The request's id in our logs: the client's own if it sent a sane one."
    )
    static let wwwAuthenticate = Self(
        component: "WWWAuthenticate",
        name: .wwwAuthenticate,
        schema: .text(pattern: "^Bearer "),
        description: "RFC 6750."
    )
    static let accept = Self(component: "Accept", name: .accept, schema: .constant("application/json"))
    static let retryAfter = Self(
        component: "RetryAfter",
        name: .retryAfter,
        schema: .integer(minimum: 1),
        description: "Seconds to wait before another try."
    )
    static let retryAfterIfKnown = Self(
        component: "RetryAfterIfKnown",
        name: .retryAfter,
        schema: .integer(minimum: 1),
        description: "Seconds to wait before another try; absent if it is not known whether the first one succeeded.",
        isRequired: false
    )
}
