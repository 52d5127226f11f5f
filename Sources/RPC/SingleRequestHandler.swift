import SwiftProtobuf

/// A method whose request is one message: unary or server streaming. `run` is its handler with what ends the call.
final class SingleRequestHandler<Request: SwiftProtobuf.Message>: MethodHandler, @unchecked Sendable {
    // Sound as its superclass.
    private let run: @Sendable (Request, ServerCall) async throws -> Void
    private let interceptors: [any ServerInterceptor]

    init(
        _ descriptor: MethodDescriptor,
        isOrigin: Bool,
        interceptors: [any ServerInterceptor],
        run: @escaping @Sendable (Request, ServerCall) async throws -> Void
    ) {
        self.run = run
        self.interceptors = interceptors
        super.init(descriptor, isOrigin: isOrigin)
    }

    override func start(_ call: ServerCall, message: UnsafeRawBufferPointer) {
        let request: Request
        do {
            request = try call.format.decoded(message)
        } catch {
            refuse(call, RPCError(call.malformedMessageCode, "the request is not a valid message", cause: error))
            return call.handlerEnded()
        }
        call.runHandler(run, with: request, isOrigin: isOrigin)
    }

    /// Ends a call that never gets to its handler.
    private func refuse(_ call: ServerCall, _ error: RPCError) {
        let context = ServerContext(call)
        let told = interceptors.reversed().reduce(error) { $1.refusal(of: context, $0) }
        call.fail(told, trailers: call.trailingMetadata)
    }
}
