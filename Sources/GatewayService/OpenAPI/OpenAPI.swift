import HTTPTypes
import JOSE

/// The description of every route, OpenAPI 3.1.1, put together from what the routes declare.
enum OpenAPI {
    /// The document.
    static func document(of operations: [Operation]) -> JSONObject {
        [
            "openapi": "3.1.1",
            "info": [
                "title": "Vestibule",
                "version": "1",
                "description": """
                Sign-in, profiles and groups. Errors are RFC 9457 problem details with a stable code; \
                a dialect's have the dialect's own shape.
                """,
                "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
            ],
            "servers": [["url": "/"]],
            "paths": .object(paths(operations)),
            "components": .object(components(operations)),
        ]
    }

    private static func paths(_ operations: [Operation]) -> JSONObject {
        var paths = JSONObject()
        for operation in operations {
            var path = paths[operation.path]?.object ?? JSONObject()
            let ofPath = operation.parameters.filter { $0.place == .path }
            if !ofPath.isEmpty { path["parameters"] = references(ofPath) }
            path[operation.method.rawValue.lowercased()] = .object(operation.json)
            paths[operation.path] = .object(path)
        }
        return paths
    }

    /// All that operations refer to, and nothing else.
    private static func components(_ operations: [Operation]) -> JSONObject {
        var found = Components()
        for operation in operations { found.add(operation) }
        return [
            "securitySchemes": [
                "bearer": ["type": "http", "scheme": "bearer", "bearerFormat": "JWT"],
                "basic": ["type": "http", "scheme": "basic"],
            ],
            "parameters": found.parameters.json,
            "requestBodies": found.requestBodies.json,
            "headers": found.headers.json,
            "responses": found.responses.json,
            "schemas": found.schemas.json,
        ]
    }

    /// What stands once and is referred to, by its name.
    private struct Components {
        var parameters: [String: JSONObject] = [:]
        var requestBodies: [String: JSONObject] = [:]
        var headers: [String: JSONObject] = [:]
        var responses: [String: JSONObject] = [:]
        var schemas: [String: JSONObject] = [:]

        mutating func add(_ operation: Operation) {
            for parameter in operation.parameters {
                parameters.add(parameter.component, parameter.json)
                add(parameter.schema)
            }
            if let body = operation.body {
                if let name = body.component { requestBodies.add(name, body.json) }
                add(body.schema)
            }
            for answer in operation.answers.values {
                if let name = answer.component { responses.add(name, answer.json) }
                if let schema = answer.schema { add(schema) }
                add([.requestID])
            }
            for problem in operation.problems {
                responses.add(operation.errors.component(problem), operation.errors.json(problem))
                add(operation.errors.schema(problem))
                add(problem.headers)
            }
        }

        private mutating func add(_ schema: Schema) { schemas.add(schema.components) }

        private mutating func add(_ headers: [Header]) {
            for header in headers { self.headers.add(header.component, header.json) }
        }
    }
}

extension [String: JSONObject] {
    /// Adds a component. A name stands for one thing only: two things of one name are a fault of the program that its first
    /// test meets.
    mutating func add(_ name: String, _ component: JSONObject) {
        let before = updateValue(component, forKey: name)
        precondition(before == nil || before == component, "two components of the description are called \(name)")
    }

    /// Adds components.
    mutating func add(_ components: [String: JSONObject]) {
        for (name, component) in components { add(name, component) }
    }

    /// The members by their names.
    fileprivate var json: JSONValue {
        var object = JSONObject()
        for (name, value) in sorted(by: { $0.key < $1.key }) { object[name] = .object(value) }
        return .object(object)
    }
}
