import SwiftProtobuf

/// A received message that is still compressed.
public struct CompressedMessage: Sendable {
    /// The bytes as they came.
    public let bytes: [UInt8]
    private let inflate: @Sendable ([UInt8]) throws(RPCError) -> [UInt8]

    /// Bytes, and what makes the message of them, within the limit on messages.
    public init(_ bytes: [UInt8], inflate: @escaping @Sendable ([UInt8]) throws(RPCError) -> [UInt8]) {
        self.bytes = bytes
        self.inflate = inflate
    }

    /// The message. Throws INTERNAL where the bytes are no message, RESOURCE_EXHAUSTED where it is too large.
    public func decoded<Message: SwiftProtobuf.Message>(as type: Message.Type) throws(RPCError) -> Message {
        let plain = try inflate(bytes)
        do {
            return try Message(serializedBytes: plain)
        } catch {
            throw RPCError(.internalError, "the message is not a valid one", cause: error)
        }
    }
}
