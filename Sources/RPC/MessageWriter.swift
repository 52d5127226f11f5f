import SwiftProtobuf

extension ServerCall: MessageSink {}

/// Sends messages on a call, in order. `write` returns when there is room for the next one: a peer that reads slowly
/// makes it wait, until the call ends.
public struct MessageWriter<Message: SwiftProtobuf.Message>: Sendable {
    let sink: any MessageSink

    init(_ sink: any MessageSink) { self.sink = sink }

    /// Sends a message. Throws CANCELLED when the call has ended, or when the task is cancelled while it waits (the message
    /// may have been sent then, and the call goes on), INTERNAL where the message cannot be encoded.
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

/// Why a write failed: its call has ended. The cause of an error, by which it is told from other calls' errors.
private struct CallHasEnded: Error {
    let sink: ObjectIdentifier
}

extension RPCError {
    /// What writing throws once the call has ended: CANCELLED. For transports.
    public static func ended(_ sink: any MessageSink) -> RPCError {
        RPCError(.cancelled, "the call has ended", cause: CallHasEnded(sink: ObjectIdentifier(sink)))
    }

    /// Whether that is what it is, of this call.
    func saysEnd(of sink: any MessageSink) -> Bool { (cause as? CallHasEnded)?.sink == ObjectIdentifier(sink) }

    /// What writing throws where the task was cancelled while it waited. For transports.
    public static var writerCancelled: RPCError { RPCError(.cancelled, "the writing task was cancelled") }
}
