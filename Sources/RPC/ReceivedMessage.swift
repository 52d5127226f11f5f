import SwiftProtobuf

/// A message as it came, still to be decoded: a stream's messages are decoded as they are read, so that a waiting message
/// takes its bytes and a fixed overhead; flow control counts both.
public enum ReceivedMessage: Sendable {
    /// A copy of what a transport's buffer held.
    case bytes([UInt8])
    /// What the other end encoded, in the same process.
    case buffer(MessageBuffer)
    case compressed(CompressedMessage)

    /// As it came, without the prefix.
    public var byteCount: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .buffer(let buffer): buffer.count
        case .compressed(let message): message.bytes.count
        }
    }

    /// The message. Throws `malformedCode` where the bytes are no such message, RESOURCE_EXHAUSTED where it is too large
    /// once inflated.
    @inlinable
    public func decoded<Message: SwiftProtobuf.Message>(
        as type: Message.Type,
        _ format: MessageFormat = .protobuf,
        malformedCode: Status.Code = .internalError
    ) throws(RPCError) -> Message {
        do {
            if case .json = format { return try decodedText(format) }
            switch self {
            case .bytes(let bytes):
                return try bytes.withUnsafeBytes { try Message(serializedBytes: ReceivedBytes($0)) }
            case .buffer(let buffer): return try Message(serializedBytes: buffer)
            case .compressed(let message): return try Message(serializedBytes: try message.inflated())
            }
        } catch let error as RPCError {
            throw error
        } catch {
            throw RPCError(malformedCode, "a message of the stream is not a valid one", cause: error)
        }
    }

    @usableFromInline
    func decodedText<Message: SwiftProtobuf.Message>(_ format: MessageFormat) throws -> Message {
        switch self {
        case .bytes(let bytes): try bytes.withUnsafeBytes { try format.decoded($0) }
        case .buffer(let buffer): try buffer.withUnsafeBytes { try format.decoded($0) }
        case .compressed(let message): try message.inflated().withUnsafeBytes { try format.decoded($0) }
        }
    }
}
