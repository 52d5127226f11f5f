import SwiftProtobuf

/// A way to call the methods of a server; generated clients are made with one.
public protocol ClientChannel: Sendable {
    /// Calls a unary method. May be called from any thread or executor.
    ///
    /// Cancelling the task ends the call with CANCELLED. Throws the server's status if it is not OK, or the
    /// transport's view of what went wrong (UNAVAILABLE, DEADLINE_EXCEEDED, …).
    func unary<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        _ request: Request,
        response: Response.Type,
        options: CallOptions
    ) async throws(RPCError) -> Response
}
