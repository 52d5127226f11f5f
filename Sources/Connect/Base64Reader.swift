import RPC

/// Decodes a stream of base64 that was encoded in parts, so that there may be padding within it (PROTOCOL-WEB,
/// "Text-encoded (response) streams"). Each group of four characters is decoded alone.
struct Base64Reader {
    private var bits: UInt32 = 0
    /// The received characters of an incomplete group, including padding.
    private(set) var count = 0
    private var paddingCount = 0

    /// Whether the last group is complete.
    var isAtEnd: Bool { count == 0 }

    /// Decodes more characters. Returns nil for a character that is not base64, or misplaced padding.
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
