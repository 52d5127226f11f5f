import JOSE

extension OpenAPI {
    /// An answer that is no problem.
    struct Answer: Sendable {
        /// Its name among the document's components; nil for one that stands where it is given.
        let component: String?
        let description: String
        /// What its body is; nil for none.
        let schema: Schema?
        /// The body's media type.
        var type = "application/json"

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

        /// A page for people.
        static func page(_ description: String) -> Answer {
            var answer = Answer(description, .text())
            answer.type = "text/html"
            return answer
        }

        /// The component, or what stands where the answer is given.
        var json: JSONObject {
            var json: JSONObject = [
                "description": .string(description), "headers": .object(OpenAPI.references([.requestID])),
            ]
            if let schema { json["content"] = .object(OpenAPI.content(type, schema)) }
            return json
        }
    }
}
