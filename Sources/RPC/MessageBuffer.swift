import SwiftProtobuf

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// One outgoing message in `malloc`ed memory, with room in front for the five bytes of gRPC's prefix.
///
/// A message is encoded once, straight into the memory that the transport sends from: the transport takes the memory
/// over with `release()` and frees it with `free` when the last byte is on its way.
public struct MessageBuffer: SwiftProtobufContiguousBytes, @unchecked Sendable {
    // Sound because it is written by whoever makes it, and then handed from one owner to the next; none keeps it.

    /// Bytes in front of the message: one for the compressed flag, four for the length.
    public static let prefixByteCount = 5

    /// Owns the memory until `release()`.
    private final class Memory {
        var start: UnsafeMutableRawPointer?
        init(byteCount: Int) {
            guard let start = malloc(byteCount) else {
                fatalError("out of memory: \(byteCount) bytes for a message")
            }
            self.start = start
        }
        deinit { free(start) }
    }

    private let memory: Memory
    /// The message's size without the prefix.
    public let count: Int

    private init(unfilled count: Int) {
        memory = Memory(byteCount: Self.prefixByteCount + count)
        self.count = count
    }

    /// A message of `count` equal bytes.
    public init(repeating byte: UInt8, count: Int) {
        self.init(unfilled: count)
        withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { memset(start, Int32(byte), count) }
        }
    }

    /// A copy of a sequence of bytes.
    public init<S: Sequence>(_ sequence: S) where S.Element == UInt8 {
        let bytes = Array(sequence)
        self.init(unfilled: bytes.count)
        withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
    }

    /// Encodes a message. The error is SwiftProtobuf's: a required field is missing or the message is too large.
    public init(encoding message: some SwiftProtobuf.Message) throws {
        let encoded: Encoded = try message.serializedBytes()
        self = encoded.buffer
    }

    /// What SwiftProtobuf encodes into. It asks for memory of the size that it works out first and writes all of it, so that
    /// the memory need not be filled before: what a user makes is.
    private struct Encoded: SwiftProtobufContiguousBytes {
        var buffer: MessageBuffer

        init(repeating: UInt8, count: Int) { buffer = MessageBuffer(unfilled: count) }
        init<S: Sequence>(_ sequence: S) where S.Element == UInt8 { buffer = MessageBuffer(sequence) }
        var count: Int { buffer.count }
        func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
            try buffer.withUnsafeBytes(body)
        }
        mutating func withUnsafeMutableBytes<R>(_ body: (UnsafeMutableRawBufferPointer) throws -> R) rethrows -> R {
            try buffer.withUnsafeMutableBytes(body)
        }
    }

    /// Gives the memory away; whoever takes it frees it with `free`. Nil the second time.
    public func release() -> UnsafeMutableRawPointer? {
        defer { memory.start = nil }
        return memory.start
    }

    /// Reads the message's bytes.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(
            UnsafeRawBufferPointer(start: memory.start.map { $0 + Self.prefixByteCount }, count: count)
        )
    }

    /// Writes the message's bytes.
    public mutating func withUnsafeMutableBytes<R>(
        _ body: (UnsafeMutableRawBufferPointer) throws -> R
    ) rethrows -> R {
        try body(
            UnsafeMutableRawBufferPointer(
                start: memory.start.map { $0 + Self.prefixByteCount },
                count: count
            )
        )
    }
}
