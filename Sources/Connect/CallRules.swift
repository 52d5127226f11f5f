import SwiftProtobuf

/// What holds for all calls of a handler.
struct CallRules: Sendable {
    /// Bytes of one message, compressed or not.
    let messageBytesMax: Int
    /// Time for a message of a stream to be whole.
    let messageTimeout: Duration
    let errors: ErrorText
}
