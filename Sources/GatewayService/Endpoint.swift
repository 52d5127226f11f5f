import HTTPJSON

/// A route of the gateway and what its description says of it: there is none without.
struct Endpoint: Sendable {
    let operation: OpenAPI.Operation
    let route: Route

    /// The operation, with what answers it.
    ///
    /// - Parameter isForOtherOrigins: whether pages of the configured origins may call it; false for what a browser visits.
    init(_ operation: OpenAPI.Operation, isForOtherOrigins: Bool = true, handler: @escaping Route.Handler) {
        self.operation = operation
        route = Route(
            operation.method,
            operation.path,
            isForOtherOrigins: isForOtherOrigins,
            handler: handler
        )
    }
}
