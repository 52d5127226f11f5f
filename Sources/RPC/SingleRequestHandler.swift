import SwiftProtobuf

/// A method whose request is one message: unary or server streaming. `run` is its handler with what ends the call.
final class SingleRequestHandler<Request: SwiftProtobuf.Message>: MethodHandler, @unchecked Sendable {
    // Sound as its superclass.
    private let run: @Sendable (Request, ServerCall) async throws -> Void

    init(
        _ descriptor: MethodDescriptor,
        isOrigin: Bool,
        run: @escaping @Sendable (Request, ServerCall) async throws -> Void
    ) {
        self.run = run
        super.init(descriptor, isOrigin: isOrigin)
    }

    override func start(_ call: ServerCall, message: UnsafeRawBufferPointer) {
        let request: Request
        do {
            request = try call.format.decoded(message)
        } catch {
            call.refuse(call.malformedMessageCode, "the request is not a valid message", cause: error)
            return call.handlerEnded()
        }
        call.runHandler(run, with: request, isOrigin: isOrigin)
    }
}
