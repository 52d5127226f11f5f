import SwiftProtobuf

/// A method whose request is a stream of messages: client streaming or bidirectional. `run` is its handler with what
/// ends the call.
final class StreamingRequestMethod<Request: SwiftProtobuf.Message>: ServerMethod, @unchecked Sendable {
    // Sound as its superclass.
    typealias Run = @Sendable (MessageReader<Request>, ServerCall) async throws -> Void
    private let run: Run

    init(_ descriptor: MethodDescriptor, run: @escaping Run) {
        self.run = run
        super.init(descriptor)
    }

    override func begin(_ call: ServerCall) -> any MessageReceiver {
        let pipe = MessagePipe<Request> { call.consume(byteCount: $0) }
        let run = run
        call.runHandler { try await run(MessageReader(pipe), call) }
        return StreamingRequestReceiver(call, pipe)
    }
}

private final class StreamingRequestReceiver<Request: SwiftProtobuf.Message>: MessageReceiver {
    private let call: ServerCall
    private let pipe: MessagePipe<Request>

    init(_ call: ServerCall, _ pipe: MessagePipe<Request>) {
        self.call = call
        self.pipe = pipe
    }

    func receive(_ message: UnsafeRawBufferPointer) {
        do {
            let request = try Request(serializedBytes: ReceivedBytes(message))
            pipe.deliver(request, byteCount: message.count)
        } catch {
            let failure = RPCError(.internalError, "the request is not a valid message", cause: error)
            pipe.end(failure)
            call.fail(failure, trailers: Metadata())
        }
    }

    func receive(compressed message: CompressedMessage) {
        pipe.deliver(byteCount: message.bytes.count) { () throws(RPCError) -> Request in
            try message.decoded(as: Request.self)
        }
    }

    func receiveEnd(_ error: RPCError?) { pipe.end(error) }
}
