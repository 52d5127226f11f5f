import CRPC
import Glibc
import RPC

/// Compressed messages: gzip (RFC 1952). Any thread.
public enum Gzip {
    /// Inflates a message of at most `byteCountMax` bytes. Throws INTERNAL where it is no gzip, RESOURCE_EXHAUSTED where
    /// it is larger.
    public static func inflate(_ bytes: UnsafeRawBufferPointer, byteCountMax: Int) throws(RPCError) -> [UInt8] {
        var result: UnsafeMutablePointer<UInt8>?
        var count = 0
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        switch crpc_gzip_inflate(start, bytes.count, byteCountMax, &result, &count) {
        case 0:
            defer { free(result) }
            return Array(UnsafeBufferPointer(start: result, count: count))
        case CRPC_ERROR_LIMIT.rawValue: throw RPCError(.resourceExhausted, "the message is larger than the limit")
        case CRPC_ERROR_MEMORY.rawValue: throw RPCError(.resourceExhausted, "out of memory")
        default: throw RPCError(.internalError, "the message is not what its encoding says")
        }
    }

    /// A message that is shorter than `message`; nil where there is none.
    public static func deflate(_ message: MessageBuffer) -> MessageBuffer? {
        message.withUnsafeBytes { bytes in
            var result: UnsafeMutablePointer<UInt8>?
            var count = 0
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            // Without memory it is sent as it is.
            guard crpc_gzip_deflate(start, bytes.count, &result, &count) == 0, let result else { return nil }
            return MessageBuffer(adopting: result, count: count)
        }
    }

    /// A copy of a message that is to be inflated later.
    public static func message(_ bytes: UnsafeRawBufferPointer, byteCountMax: Int) -> CompressedMessage {
        CompressedMessage(Array(bytes)) { (bytes: [UInt8]) throws(RPCError) -> [UInt8] in
            // The closure of `withUnsafeBytes` throws untyped errors only.
            try bytes.withUnsafeBytes { bytes in
                Result { () throws(RPCError) -> [UInt8] in try inflate(bytes, byteCountMax: byteCountMax) }
            }.get()
        }
    }
}
