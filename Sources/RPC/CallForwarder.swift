import SwiftProtobuf

/// A gateway that forwards calls to the program that implements their methods. Generated code calls it
/// (`<Service>Client.addForwards(to:)`).
public protocol CallForwarder {
    /// Adds a method.
    ///
    /// - Parameter call: calls the same method of the program. Any thread.
    mutating func add<Request: Message, Response: Message>(
        _ method: MethodDescriptor,
        _ call: @escaping @Sendable (Request, CallOptions) async throws(RPCError) -> Response
    )
}
