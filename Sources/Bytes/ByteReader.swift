/// Reads bytes of unknown origin from start to end. Every read is checked against what is left: bytes that are not there throw
/// the fault that the reader was made with, and nothing traps.
///
/// The reader of every binary format whose bytes come from outside: cursors and images. ``Checked`` does the arithmetic on what
/// it returns.
public struct ByteReader<Fault: Error>: Sendable {
    /// The bytes, those that were read included.
    public let bytes: ArraySlice<UInt8>
    /// The index of the next byte in ``bytes``.
    public private(set) var position: Int
    private let truncated: Fault

    /// Reads `bytes`.
    ///
    /// - Parameter truncated: thrown by a read of more bytes than are left.
    public init(_ bytes: ArraySlice<UInt8>, truncated: Fault) {
        self.bytes = bytes
        self.truncated = truncated
        position = bytes.startIndex
    }

    /// Whether no byte is left.
    public var isAtEnd: Bool { position == bytes.endIndex }
    /// How many bytes are left.
    public var leftCount: Int { bytes.endIndex - position }

    /// Returns the next `count` bytes.
    public mutating func take(_ count: Int) throws(Fault) -> ArraySlice<UInt8> {
        guard count >= 0, count <= leftCount else { throw truncated }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Returns the next byte.
    public mutating func byte() throws(Fault) -> UInt8 {
        guard !isAtEnd else { throw truncated }
        defer { position += 1 }
        return bytes[position]
    }

    /// Returns the next bytes as an integer of that type, the most significant byte first.
    public mutating func integer<Value: FixedWidthInteger>(_: Value.Type = Value.self) throws(Fault) -> Value {
        var value: Value = 0
        for byte in try take(Value.bitWidth / 8) { value = (value << 8) | Value(truncatingIfNeeded: byte) }
        return value
    }

    /// Skips to the next byte of this value, which is then the next to be read. False, without a move, if there is none.
    public mutating func skip(to byte: UInt8) -> Bool {
        guard let next = bytes[position...].firstIndex(of: byte) else { return false }
        position = next
        return true
    }
}

extension [UInt8] {
    /// Appends an integer, the most significant byte first, as ``ByteReader/integer(_:)`` reads it.
    public mutating func append(integer value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
