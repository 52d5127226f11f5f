import SwiftProtobuf

/// Where a writer's messages go; calls of both sides conform.
public protocol MessageSink: AnyObject, Sendable {
    /// Sends a message and waits until there is room for another one. Throws `RPCError.ended(self)` if the call has ended, and
    /// CANCELLED if the task is cancelled while it waits; then the message may have been sent. Any executor.
    func send(_ message: MessageBuffer) async throws(RPCError)
}
