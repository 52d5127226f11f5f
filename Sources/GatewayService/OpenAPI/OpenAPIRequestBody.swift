import JOSE

extension OpenAPI {
    /// What a request brings, mostly as JSON.
    struct RequestBody: Sendable {
        let schema: Schema
        let isRequired: Bool
        var types = ["application/json"]

        /// A body that must be there.
        static func required(_ schema: Schema) -> RequestBody { RequestBody(schema: schema, isRequired: true) }

        /// A body that may be missing.
        static func optional(_ schema: Schema) -> RequestBody { RequestBody(schema: schema, isRequired: false) }

        /// A form that must be there.
        static func form(_ schema: Schema) -> RequestBody {
            RequestBody(schema: schema, isRequired: true, types: ["application/x-www-form-urlencoded"])
        }

        /// The same, with schemas that allow no fields but those that they name.
        var refusingUnknownFields: RequestBody {
            RequestBody(schema: schema.refusingUnknownFields, isRequired: isRequired, types: types)
        }

        /// Its name among the document's components: that of its schema, if it must be there. Another stands where it is given.
        var component: String? { isRequired ? schema.name : nil }

        /// The component, or what stands where the body is given.
        var json: JSONObject {
            var content = JSONObject()
            for type in types { content[type] = ["schema": .object(schema.json)] }
            var json: JSONObject = ["content": .object(content)]
            if isRequired { json["required"] = true }
            return json
        }
    }

    /// A body of one media type.
    static func content(_ type: String, _ schema: Schema) -> JSONObject {
        [type: ["schema": .object(schema.json)]]
    }
}
