import SwiftProtobuf

/// Received bytes that are decoded in place. Never kept past the callback that brought them, and only read.
public struct ReceivedBytes: SwiftProtobufContiguousBytes {
    private let bytes: UnsafeRawBufferPointer

    /// Wraps bytes for as long as the callback lasts.
    public init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Not to be used: a decoder makes no bytes.
    public init(repeating: UInt8, count: Int) { preconditionFailure("received bytes are only read") }
    /// Not to be used: a decoder makes no bytes.
    public init<S: Sequence>(_ sequence: S) where S.Element == UInt8 {
        preconditionFailure("received bytes are only read")
    }

    /// The number of bytes.
    public var count: Int { bytes.count }

    /// Reads the bytes.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { try body(bytes) }

    /// Not to be used: a decoder writes no bytes.
    public mutating func withUnsafeMutableBytes<R>(_ body: (UnsafeMutableRawBufferPointer) throws -> R) rethrows -> R {
        preconditionFailure("received bytes are only read")
    }
}
