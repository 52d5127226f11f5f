import SwiftProtobuf

/// Sends the request of a streaming call.
public struct RequestWriter<Message: SwiftProtobuf.Message>: Sendable {
    private let writer: MessageWriter<Message>
    private let sink: any RequestSink

    /// Writes to a transport's call.
    public init(_ sink: any RequestSink) {
        writer = MessageWriter(request: sink)
        self.sink = sink
    }

    /// Sends a message; see `MessageWriter.write`.
    public func write(_ message: Message) async throws(RPCError) { try await writer.write(message) }

    /// Ends the request (END_STREAM): no message follows. Does nothing the second time.
    public func finish() { sink.finishRequest() }

    /// Whether an error is the one that `write` throws once the call has ended.
    func saysEnd(_ error: RPCError) -> Bool { error.saysEnd(of: sink) }
}

/// A sink of request messages, which the writer can end.
public protocol RequestSink: MessageSink {
    /// No message follows. Any executor.
    func finishRequest()
}
