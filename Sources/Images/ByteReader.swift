/// Reads a file from its start to its end; whatever isn't there is ``SafeImage/Fault/truncated``.
struct ByteReader {
    let bytes: ArraySlice<UInt8>
    /// Where the next byte is.
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    var isAtEnd: Bool { position == bytes.endIndex }
    /// How many bytes are left.
    var leftCount: Int { bytes.endIndex - position }

    /// The next bytes.
    mutating func take(_ count: Int) throws(SafeImage.Fault) -> ArraySlice<UInt8> {
        guard count >= 0, count <= leftCount else { throw .truncated }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// The next byte.
    mutating func byte() throws(SafeImage.Fault) -> UInt8 {
        guard !isAtEnd else { throw .truncated }
        defer { position += 1 }
        return bytes[position]
    }

    /// The next bytes as a number, the most significant first.
    mutating func bigEndian(_ count: Int) throws(SafeImage.Fault) -> Int { try take(count).bigEndian }
    /// The next bytes as a number, the least significant first.
    mutating func littleEndian(_ count: Int) throws(SafeImage.Fault) -> Int { try take(count).littleEndian }

    /// Leaves out what is neither of these bytes. False if there is none of them.
    mutating func skip(to byte: UInt8) -> Bool {
        guard let next = bytes[position...].firstIndex(of: byte) else { return false }
        position = next
        return true
    }
}

extension ArraySlice<UInt8> {
    /// At most seven bytes as a number, the most significant first.
    var bigEndian: Int { reduce(0) { $0 << 8 | Int($1) } }
    /// At most seven bytes as a number, the least significant first.
    var littleEndian: Int { reversed().reduce(0) { $0 << 8 | Int($1) } }
}

extension [UInt8] {
    /// Appends a number in so many bytes, the most significant first.
    mutating func append(bigEndian value: Int, byteCount: Int) {
        for shift in stride(from: (byteCount - 1) * 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Appends a number in so many bytes, the least significant first.
    mutating func append(littleEndian value: Int, byteCount: Int) {
        for shift in stride(from: 0, to: byteCount * 8, by: 8) { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
}
