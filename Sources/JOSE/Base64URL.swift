/// Base64url without padding, as RFC 7515 section 2 wants it: strict both ways.
public enum Base64URL {
    /// The text of `bytes`, without padding.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var characters: [UInt8] = []
        characters.reserveCapacity((bytes.underestimatedCount * 4 + 2) / 3)
        var bits: UInt32 = 0
        var bitCount = 0
        for byte in bytes {
            bits = (bits << 8) | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                characters.append(alphabet[Int((bits >> UInt32(bitCount)) & 0x3f)])
            }
        }
        if bitCount > 0 {
            characters.append(alphabet[Int((bits << UInt32(6 - bitCount)) & 0x3f)])
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// The bytes of `text`, or nil if it holds padding, white space, any character outside the alphabet, an
    /// impossible length, or bits after the last byte that are not zero (so that each value has one spelling only).
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(utf8: text.utf8)
    }

    /// As ``decode(_:)``, from the text's UTF-8 bytes.
    public static func decode(utf8 text: some Collection<UInt8>) -> [UInt8]? {
        let count = text.count
        guard count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount = 0
        for character in text {
            let value = values[Int(character)]
            guard value < 64 else { return nil }
            bits = (bits << 6) | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        guard bits & ((1 << UInt32(bitCount)) - 1) == 0 else { return nil }
        return bytes
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of each character, 255 where it is none of the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        return values
    }()
}
