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
        /// Whether it must be there; what stands in the path always is.
        var isRequired = false

        /// The component.
        var json: JSONObject {
            var json: JSONObject = ["name": .string(name), "in": .string(place.rawValue)]
            if place == .path || isRequired { json["required"] = true }
            json["schema"] = .object(schema.json)
            json["description"] = description.map { .string($0) }
            json["example"] = example
            return json
        }
    }
}
