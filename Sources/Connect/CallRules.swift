import RPC
import RPCTransport
import SwiftProtobuf

/// What holds for all calls of a handler. One object, which they share.
final class CallRules: Sendable {
    /// Bytes of one message, compressed or not.
    let messageBytesMax: Int
    /// Time for a message of a stream to be whole.
    let messageTimeout: Duration
    let errors: ErrorText

    init(_ limits: ConnectionLimits, detailTypes: [any SwiftProtobuf.Message.Type]) {
        messageBytesMax = limits.messageBytesMax
        messageTimeout = limits.messageTimeout
        errors = ErrorText(detailTypes: detailTypes)
    }
}
