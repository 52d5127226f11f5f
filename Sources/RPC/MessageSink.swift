import SwiftProtobuf

/// Where a writer's messages go; calls of both sides conform.
public protocol MessageSink: AnyObject, Sendable {
    /// Sends a message, and waits while the peer takes none. Throws `RPCError.ended(self)` once the call has ended, and
    /// CANCELLED when the task is cancelled while it waits: then the message may have been sent. Any executor.
    func send(_ message: MessageBuffer) async throws(RPCError)
}
