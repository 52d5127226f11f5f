import HTTPJSON

/// A route of the gateway and what its description says of it: there is none without.
struct Endpoint: Sendable {
    let operation: OpenAPI.Operation
    let route: Route

    /// The operation, with what answers it.
    init(_ operation: OpenAPI.Operation, handler: @escaping Route.Handler) {
        self.operation = operation
        route = Route(operation.method, operation.path, handler: handler)
    }
}
