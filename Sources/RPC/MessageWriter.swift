import SwiftProtobuf

/// Where a writer's messages go; calls of both sides conform.
public protocol MessageSink: AnyObject, Sendable {
    /// Sends a message, and waits while the peer takes none. Throws CANCELLED once the call has ended. Any executor.
    func send(_ message: MessageBuffer) async throws(RPCError)
}

extension ServerCall: MessageSink {}

/// Sends messages on a call, in order. `write` returns when there is room for the next one: a peer that reads slowly
/// makes it wait, until the call ends.
public struct MessageWriter<Message: SwiftProtobuf.Message>: Sendable {
    let sink: any MessageSink

    init(_ sink: any MessageSink) { self.sink = sink }

    /// Sends a message. Throws CANCELLED when the call has ended, INTERNAL where the message cannot be encoded.
    public func write(_ message: Message) async throws(RPCError) {
        let buffer: MessageBuffer
        do {
            buffer = try MessageBuffer(encoding: message)
        } catch {
            throw RPCError(.internalError, "the message cannot be encoded", cause: error)
        }
        try await sink.send(buffer)
    }
}
