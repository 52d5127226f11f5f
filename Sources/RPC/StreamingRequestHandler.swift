/// A method whose request is a stream of messages: client streaming or bidirectional. `run` is its handler with what
/// ends the call.
final class StreamingRequestHandler: MethodHandler, @unchecked Sendable {
    // Sound as its superclass.
    typealias Run = @Sendable (MessagePipe, ServerCall) async throws -> Void
    private let run: Run

    init(_ descriptor: MethodDescriptor, isOrigin: Bool, run: @escaping Run) {
        self.run = run
        super.init(descriptor, isOrigin: isOrigin)
    }

    override func begin(_ call: ServerCall) -> any MessageReceiver {
        let pipe = MessagePipe { call.consume(byteCount: $0) }
        call.runHandler(run, with: pipe, isOrigin: isOrigin)
        return StreamingRequestReceiver(pipe)
    }
}

private final class StreamingRequestReceiver: MessageReceiver {
    private let pipe: MessagePipe

    init(_ pipe: MessagePipe) { self.pipe = pipe }

    func receive(_ message: UnsafeRawBufferPointer) { pipe.deliver(.bytes(Array(message))) }

    func receive(compressed message: CompressedMessage) { pipe.deliver(.compressed(message)) }

    func receiveEnd(_ error: RPCError?) {
        if let error { pipe.abandon(error) } else { pipe.end() }
    }
}
