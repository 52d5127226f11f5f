import SwiftProtobuf

/// A handler behind its method, without its message types: what the router finds for a path.
open class ServerMethod: @unchecked Sendable {
    // Sound because it and its only subclass hold constants that are Sendable.

    /// The method.
    public let descriptor: MethodDescriptor

    init(_ descriptor: MethodDescriptor) { self.descriptor = descriptor }

    /// Starts the handler of a unary call with its one message, which is decoded before this returns. The handler runs
    /// here and now up to its first suspension, and then on the call's executor.
    public func start(_ call: ServerCall, message: UnsafeRawBufferPointer) {
        preconditionFailure("overridden by every kind of method")
    }
}

/// A method with one message each way.
final class UnaryMethod<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>:
    ServerMethod,
    @unchecked Sendable
{
    // Sound because the handler is a constant that is Sendable.
    private let handler: @Sendable (Request, ServerContext) async throws -> Response

    init(
        _ descriptor: MethodDescriptor,
        handler: @escaping @Sendable (Request, ServerContext) async throws -> Response
    ) {
        self.handler = handler
        super.init(descriptor)
    }

    override func start(_ call: ServerCall, message: UnsafeRawBufferPointer) {
        let request: Request
        do {
            request = try Request(serializedBytes: ReceivedBytes(message))
        } catch {
            call.fail(
                RPCError(.internalError, "the request is not a valid message", cause: error),
                trailers: Metadata()
            )
            return
        }
        let handler = handler
        let task = Task.immediate(executorPreference: call.executor) {
            do {
                let response = try await handler(request, ServerContext(call))
                call.respond(try MessageBuffer(encoding: response), trailers: call.trailingMetadata)
            } catch {
                call.fail(RPCError(thrown: error), trailers: call.trailingMetadata)
            }
        }
        if !call.hasEnded { call.didStart(task) }
    }
}
