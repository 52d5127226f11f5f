import HTTPJSON
import HTTPTypes
import JOSE

extension OpenAPI {
    /// A field of an answer's head.
    struct Header: Sendable {
        /// Its name among the document's components.
        let component: String
        let name: HTTPField.Name
        let schema: Schema
        var description: String?
        var isRequired = true

        /// The component.
        var json: JSONObject {
            var json: JSONObject = ["schema": .object(schema.json)]
            if isRequired { json["required"] = true }
            json["description"] = description.map { .string($0) }
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
    static let stepUp = Self(
        component: "StepUp",
        name: .wwwAuthenticate,
        schema: .text(pattern: "^Bearer "),
        description: "Where another sign-in would be enough: RFC 9470.",
        isRequired: false
    )
    static let accept = Self(component: "Accept", name: .accept, schema: .text(minLength: 1))
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
