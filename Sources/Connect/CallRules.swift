import RPC
import RPCTransport
import SwiftProtobuf

/// The settings of all calls of a handler. They share one object.
final class CallRules: Sendable {
    /// The maximum length of a message in bytes, compressed and inflated.
    let messageBytesMax: Int
    /// The time in which a message of a stream must be complete.
    let messageTimeout: Duration
    let errors: ErrorText

    init(_ limits: ConnectionLimits, detailTypes: [any SwiftProtobuf.Message.Type]) {
        messageBytesMax = limits.messageBytesMax
        messageTimeout = limits.messageTimeout
        errors = ErrorText(detailTypes: detailTypes)
    }
}
