import SwiftProtobuf

/// What holds for all calls of a handler.
struct CallRules: Sendable {
    /// Bytes of one message, compressed or not.
    let messageBytesMax: Int
    let errors: ErrorText
}
