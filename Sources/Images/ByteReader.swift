import Bytes

/// Reads a file from its start to its end; bytes that are not there are ``SafeImage/Fault/truncated``.
typealias ByteReader = Bytes.ByteReader<SafeImage.Fault>

extension Bytes.ByteReader where Fault == SafeImage.Fault {
    /// Reads a file or a part of it.
    init(_ bytes: ArraySlice<UInt8>) { self.init(bytes, truncated: .truncated) }

    /// Returns the next bytes, at most seven, as a number, the most significant first.
    mutating func bigEndian(_ count: Int) throws(SafeImage.Fault) -> Int { try take(count).bigEndian }
    /// Returns the next bytes, at most seven, as a number, the least significant first.
    mutating func littleEndian(_ count: Int) throws(SafeImage.Fault) -> Int { try take(count).littleEndian }
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
