import RPC

/// Decodes a stream of base64 that was written piece by piece, so that there may be padding in the midst of it
/// (PROTOCOL-WEB, "Text-encoded (response) streams"). Each four characters stand for themselves.
struct Base64Reader {
    private var bits: UInt32 = 0
    /// Characters of the four that are there, padding among them.
    private(set) var count = 0
    private var paddingCount = 0

    /// Whether all that came was whole.
    var isAtEnd: Bool { count == 0 }

    /// The bytes of more characters. Nil where one is no base64, or padding stands where none can.
    mutating func read(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 3)
        for character in text {
            if character == UInt8(ascii: "=") {
                guard count >= 2 else { return nil }
                paddingCount += 1
                bits <<= 6
            } else {
                let value = Base64.value(of: character)
                guard value < 64, paddingCount == 0 else { return nil }
                bits = bits << 6 | UInt32(value)
            }
            count += 1
            if count == 4 {
                bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
                if paddingCount < 2 { bytes.append(UInt8(truncatingIfNeeded: bits >> 8)) }
                if paddingCount < 1 { bytes.append(UInt8(truncatingIfNeeded: bits)) }
                self = Base64Reader()
            }
        }
        return bytes
    }
}
