import HTTPTypes
import JOSE

extension OpenAPI {
    /// A part of a request that is neither its body nor its token.
    struct Parameter: Sendable {
        /// Where it stands.
        enum Place: String {
            case path
            case query
            case header
        }

        /// Its name among the document's components.
        let component: String
        /// Its name in a request.
        let name: String
        let place: Place
        let schema: Schema
        var description: String?
        /// A value to try; a header field of a UUID needs one, as tools make none from its format.
        var example: JSONValue?

        /// The component.
        var json: JSONObject {
            var json: JSONObject = ["name": .string(name), "in": .string(place.rawValue)]
            if place == .path { json["required"] = true }
            json["schema"] = .object(schema.json)
            json["description"] = description.map { .string($0) }
            json["example"] = example
            return json
        }
    }

    /// What a request brings as JSON.
    struct RequestBody: Sendable {
        let schema: Schema
        let isRequired: Bool

        /// A body that must be there.
        static func required(_ schema: Schema) -> RequestBody { RequestBody(schema: schema, isRequired: true) }

        /// A body that may be missing.
        static func optional(_ schema: Schema) -> RequestBody { RequestBody(schema: schema, isRequired: false) }

        var json: JSONObject {
            var json: JSONObject = ["content": .object(OpenAPI.content("application/json", schema))]
            if isRequired { json["required"] = true }
            return json
        }
    }

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

    /// A body of one media type.
    static func content(_ type: String, _ schema: Schema) -> JSONObject {
        [type: ["schema": .object(schema.json)]]
    }
}
