import HTTPJSON

/// A route of the gateway and what its description says of it: there is none without.
struct Endpoint: Sendable {
    let operation: OpenAPI.Operation
    let route: Route

    /// The operation, with what answers it.
    ///
    /// - Parameters:
    ///   - isForOtherOrigins: whether pages of the configured origins may call it; false for what a browser visits.
    ///   - bodyBytesMax: the largest request body, in bytes; nil for that of the port.
    init(
        _ operation: OpenAPI.Operation,
        isForOtherOrigins: Bool = true,
        bodyBytesMax: Int? = nil,
        handler: @escaping Route.Handler
    ) {
        self.operation = operation
        route = Route(
            operation.method,
            operation.path,
            isForOtherOrigins: isForOtherOrigins,
            bodyBytesMax: bodyBytesMax,
            bodyFields: operation.bodyFields,
            handler: handler
        )
    }

    /// The operation, with what answers it without waiting for anything.
    init(_ operation: OpenAPI.Operation, atOnce handler: @escaping Route.ImmediateHandler) {
        self.operation = operation
        route = Route(operation.method, operation.path, atOnce: handler)
    }
}
