import SwiftProtobuf

/// Looks at, changes or answers calls on their way to the server.
public protocol ClientInterceptor: Sendable {
    /// Makes a unary call: usually by calling `next` once, and returning or throwing what it does.
    func intercept<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        _ request: Request,
        _ options: CallOptions,
        next: @Sendable (Request, CallOptions) async throws(RPCError) -> Response
    ) async throws(RPCError) -> Response

    /// Makes a streaming call, which lasts until `next` returns or throws. Calls `next` if it is not overridden.
    func interceptStream<Result: Sendable>(
        _ method: MethodDescriptor,
        _ options: CallOptions,
        next: @Sendable (CallOptions) async throws -> Result
    ) async throws -> Result
}

extension ClientInterceptor {
    /// Lets the call through.
    public func interceptStream<Result: Sendable>(
        _ method: MethodDescriptor,
        _ options: CallOptions,
        next: @Sendable (CallOptions) async throws -> Result
    ) async throws -> Result {
        try await next(options)
    }
}
