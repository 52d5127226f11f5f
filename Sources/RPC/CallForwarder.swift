import SwiftProtobuf

/// Forwards calls of a router to the program that implements their methods. Generated code calls it
/// (`<Service>Client.addForwards(to:by:)`). Any thread.
public protocol CallForwarder: Sendable {
    /// Returns the response to a request, or throws what its client gets.
    ///
    /// - Parameters:
    ///   - changes: whether the method may change something (its `idempotency_level` isn't NO_SIDE_EFFECTS).
    ///   - call: calls the same method of the program, with the options that the forwarder chooses.
    func forward<Request: Message, Response: Message>(
        _ request: Request,
        _ context: ServerContext,
        changes: Bool,
        _ call: (Request, CallOptions) async throws(RPCError) -> Response
    ) async throws -> Response
}
