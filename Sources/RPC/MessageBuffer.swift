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
    // Sound because its creator writes it, and it is then handed from one owner to the next; none keeps it.

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
        init(_ start: UnsafeMutableRawPointer) { self.start = start }
        deinit { free(start) }
    }

    private let memory: Memory
    /// Where the bytes begin in the memory: behind the room for the prefix, or at 0 once the prefix is a part of them.
    public let offset: Int
    /// The number of bytes, without the room in front.
    public let count: Int

    private init(_ memory: Memory, offset: Int = prefixByteCount, count: Int) {
        self.memory = memory
        self.offset = offset
        self.count = count
    }

    private init(unfilled count: Int) {
        self.init(Memory(byteCount: Self.prefixByteCount + count), count: count)
    }

    /// Takes over memory that was allocated with `malloc`: room for the prefix, then `count` bytes.
    public init(adopting start: UnsafeMutableRawPointer, count: Int) {
        self.init(Memory(start), count: count)
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

    /// Encodes a message in binary. The error is SwiftProtobuf's: a required field is missing, or the message is too large.
    public init(encoding message: borrowing some SwiftProtobuf.Message) throws {
        let encoded: Encoded = try message.serializedBytes()
        self = encoded.buffer
    }

    @inline(never)
    private init(encodingAsJSON message: borrowing some SwiftProtobuf.Message) throws {
        let encoded: Encoded = try message.jsonUTF8Bytes()
        self = encoded.buffer
    }

    /// Encodes a message in the format of a call. The error is SwiftProtobuf's, which is also thrown where the message has no
    /// JSON form. Inlined, so that gRPC's calls pay a comparison for the other format and no more; none of them copies
    /// the message.
    @inline(__always)
    init(encoding message: borrowing some SwiftProtobuf.Message, as format: MessageFormat) throws {
        switch format {
        case .protobuf: try self.init(encoding: message)
        case .json: try self.init(encodingAsJSON: message)
        }
    }

    /// The message as a frame of a stream of bytes: with its prefix, which this writes into the room for it, as a part of the
    /// bytes. To be called once, by the last owner of the message.
    public func framed(flags: UInt8) -> MessageBuffer {
        if let start = memory.start {
            start.storeBytes(of: flags, as: UInt8.self)
            start.storeBytes(of: UInt32(truncatingIfNeeded: count).bigEndian, toByteOffset: 1, as: UInt32.self)
        }
        return MessageBuffer(memory, offset: 0, count: Self.prefixByteCount + count)
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

    /// Gives the memory away; the new owner frees it with `free`. Nil the second time.
    public func release() -> UnsafeMutableRawPointer? {
        defer { memory.start = nil }
        return memory.start
    }

    /// Reads the message's bytes.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(
            UnsafeRawBufferPointer(start: memory.start.map { $0 + offset }, count: count)
        )
    }

    /// Writes the message's bytes.
    public mutating func withUnsafeMutableBytes<R>(
        _ body: (UnsafeMutableRawBufferPointer) throws -> R
    ) rethrows -> R {
        try body(
            UnsafeMutableRawBufferPointer(
                start: memory.start.map { $0 + offset },
                count: count
            )
        )
    }
}
