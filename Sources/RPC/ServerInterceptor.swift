import SwiftProtobuf

/// Looks at, changes or refuses calls on their way to the handler.
public protocol ServerInterceptor: Sendable {
    /// Handles a call: usually by calling `next` once, and returning or throwing what it does.
    func intercept<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ request: Request,
        _ context: ServerContext,
        next: @Sendable (Request, ServerContext) async throws -> Response
    ) async throws -> Response

    /// Handles a streaming call, which ends when `next` returns or throws. Calls `next` if it is not overridden.
    func interceptStream(_ context: ServerContext, next: @Sendable () async throws -> Void) async throws

    /// The error for the caller if the one message of a request can't be decoded as its method's. Neither of the other
    /// functions is called then. Runs on the call's executor; must not wait. Returns `error` if it is not overridden.
    func refusal(of context: ServerContext, _ error: RPCError) -> RPCError
}

extension ServerInterceptor {
    /// Lets the call through.
    public func interceptStream(_ context: ServerContext, next: @Sendable () async throws -> Void) async throws {
        try await next()
    }

    /// Says what the router says.
    public func refusal(of context: ServerContext, _ error: RPCError) -> RPCError { error }
}
