import SwiftProtobuf

/// The messages that arrive on a call, in order. One task reads them, once.
///
/// A slow reader makes the sender wait: the flow-control window opens only by what was read.
public struct MessageReader<Message: SwiftProtobuf.Message>: AsyncSequence, Sendable {
    @usableFromInline let pipe: MessagePipe
    @usableFromInline let format: MessageFormat
    @usableFromInline let malformedCode: Status.Code

    /// Reads what a transport delivers to a pipe, in gRPC's own format.
    public init(_ pipe: MessagePipe) {
        self.pipe = pipe
        format = .protobuf
        malformedCode = .internalError
    }

    /// Reads the request of a call.
    init(_ pipe: MessagePipe, of call: ServerCall) {
        self.pipe = pipe
        format = call.format
        malformedCode = call.malformedMessageCode
    }

    /// Goes over the messages.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline let messages: MessageReader

        @usableFromInline
        init(_ messages: MessageReader) { self.messages = messages }

        /// The next message; nil after the last. Throws `RPCError` if the call failed, or if the bytes are no such message.
        @inlinable
        public mutating func next() async throws -> Message? {
            guard let received = try await messages.pipe.next() else { return nil }
            return try received.decoded(as: Message.self, messages.format, malformedCode: messages.malformedCode)
        }
    }

    /// Begins to read.
    @inlinable
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
