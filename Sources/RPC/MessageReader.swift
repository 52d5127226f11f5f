import SwiftProtobuf

/// The messages that arrive on a call, in order. One task reads them, once.
///
/// A slow reader makes the sender wait: the flow-control window opens only by what was read.
public struct MessageReader<Message: SwiftProtobuf.Message>: AsyncSequence, Sendable {
    @usableFromInline let pipe: MessagePipe

    /// Reads what a transport delivers to a pipe.
    public init(_ pipe: MessagePipe) { self.pipe = pipe }

    /// Goes over the messages.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline let pipe: MessagePipe

        @usableFromInline
        init(pipe: MessagePipe) { self.pipe = pipe }

        /// The next message; nil after the last. Throws `RPCError` if the call failed, or if the bytes are no such message.
        @inlinable
        public mutating func next() async throws -> Message? {
            guard let received = try await pipe.next() else { return nil }
            return try received.decoded(as: Message.self)
        }
    }

    /// Begins to read.
    @inlinable
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pipe: pipe) }
}
