import SwiftProtobuf

extension ServerCall: MessageSink {}

/// Sends messages on a call, in order. `write` returns when there is room for another message, so a peer that reads slowly
/// makes the writer wait.
public struct MessageWriter<Message: SwiftProtobuf.Message>: Sendable {
    private let sink: any MessageSink
    private let format: MessageFormat

    /// Writes the answer of a call.
    init(to call: ServerCall) {
        sink = call
        format = call.format
    }

    /// Writes a request, in gRPC's own format.
    init(request sink: any RequestSink) {
        self.sink = sink
        format = .protobuf
    }

    /// Sends a message. Throws CANCELLED if the call has ended, and INTERNAL if the message cannot be encoded. Also throws
    /// CANCELLED if the task is cancelled while it waits; then the message may have been sent, and the call goes on.
    public func write(_ message: Message) async throws(RPCError) {
        let buffer: MessageBuffer
        do {
            buffer = try MessageBuffer(encoding: message, as: format)
        } catch {
            throw RPCError(.internalError, "the message cannot be encoded", cause: error)
        }
        try await sink.send(buffer)
    }
}

/// Why a write failed: its call has ended. The cause of an error, which distinguishes it from other calls' errors.
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
