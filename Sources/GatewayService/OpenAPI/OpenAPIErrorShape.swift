import JOSE

extension OpenAPI {
    /// How operations tell what went wrong: the body of every answer that is a problem.
    struct ErrorShape: Sendable {
        /// What its components' names begin with; empty for the shape of our own routes.
        let name: String
        /// The media type.
        let contentType: String
        /// What the JSON is.
        let schema: @Sendable (ProblemAnswer) -> Schema

        /// A shape.
        init(name: String, contentType: String, schema: @escaping @Sendable (ProblemAnswer) -> Schema) {
            self.name = name
            self.contentType = contentType
            self.schema = schema
        }

        /// Whether it is that of our own routes.
        var isOurs: Bool { name.isEmpty }

        /// The name of a problem's component.
        func component(_ problem: ProblemAnswer) -> String { name + problem.component }

        /// A problem's component.
        func json(_ problem: ProblemAnswer) -> JSONObject {
            [
                "description": .string(problem.description),
                "headers": .object(OpenAPI.references(problem.headers)),
                "content": .object(OpenAPI.content(contentType, schema(problem))),
            ]
        }
    }
}
