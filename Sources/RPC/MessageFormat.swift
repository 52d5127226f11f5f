import SwiftProtobuf

/// How the messages of a call are written. gRPC's own are binary; other protocols let the caller choose.
public enum MessageFormat: Sendable, Hashable {
    /// Protocol Buffers' binary format.
    case protobuf
    /// Protocol Buffers' JSON mapping (ProtoJSON) in UTF-8. Fields of what is read that the message does not have are passed
    /// over, so that a newer client can call an older server, as with the binary format.
    case json

    private static let readingOptions: JSONDecodingOptions = {
        var options = JSONDecodingOptions()
        options.ignoreUnknownFields = true
        return options
    }()

    /// Decodes a message, in place. The error is SwiftProtobuf's. Nothing at all is an empty message in binary, and none in JSON.
    /// Inlined, so that gRPC's calls pay a comparison for the other format and no more.
    @inline(__always)
    func decoded<Message: SwiftProtobuf.Message>(
        _ bytes: UnsafeRawBufferPointer,
        as type: Message.Type = Message.self
    ) throws -> Message {
        switch self {
        case .protobuf: try Message(serializedBytes: bytes.bytes)
        case .json: try Self.decodedJSON(bytes)
        }
    }

    @inline(never)
    private static func decodedJSON<Message: SwiftProtobuf.Message>(_ bytes: UnsafeRawBufferPointer) throws -> Message {
        try Message(jsonUTF8Bytes: ReceivedBytes(bytes), options: readingOptions)
    }
}
