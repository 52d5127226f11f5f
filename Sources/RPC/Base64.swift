/// Base64 (RFC 4648).
public enum Base64 {
    /// Which characters stand for 62 and 63.
    public enum Alphabet: Sendable {
        /// `+` and `/` (section 4).
        case standard
        /// `-` and `_` (section 5).
        case urlSafe
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value of each character; 255 where it is not in the alphabet.
    private static let values = table(of: alphabet)
    private static let urlSafeValues = table(of: alphabet.dropLast(2) + "-_".utf8)

    private static func table(of alphabet: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }

    /// What a character stands for in the standard alphabet; 255 where it is not in it.
    public static func value(of character: UInt8) -> UInt8 { values[Int(character)] }

    /// Encodes bytes, in the standard alphabet.
    public static func encode(_ bytes: [UInt8], padded: Bool = false) -> [UInt8] {
        bytes.withUnsafeBytes { encode($0, padded: padded) }
    }

    /// Encodes bytes, in the standard alphabet.
    public static func encode(_ bytes: UnsafeRawBufferPointer, padded: Bool) -> [UInt8] {
        let count = padded ? (bytes.count + 2) / 3 * 4 : (bytes.count * 4 + 2) / 3
        return alphabet.withUnsafeBufferPointer { alphabet in
            [UInt8](unsafeUninitializedCapacity: count) { text, written in
                var bits: UInt32 = 0
                var bitCount = 0
                func put(_ character: UInt8) {
                    text.initializeElement(at: written, to: character)
                    written += 1
                }
                for byte in bytes {
                    bits = bits << 8 | UInt32(byte)
                    bitCount += 8
                    while bitCount >= 6 {
                        bitCount -= 6
                        put(alphabet[Int(bits >> UInt32(bitCount) & 63)])
                    }
                }
                if bitCount > 0 { put(alphabet[Int(bits << UInt32(6 - bitCount) & 63)]) }
                while written < count { put(UInt8(ascii: "=")) }
            }
        }
    }

    /// The bytes of a text with or without padding. Nil for a character outside the alphabet, padding that does not fit, or a
    /// length that no bytes encode to.
    public static func decode(
        _ text: some BidirectionalCollection<UInt8>,
        _ alphabet: Alphabet = .standard
    ) -> [UInt8]? {
        let values = alphabet == .standard ? values : urlSafeValues
        var characters = text[...]
        while characters.last == UInt8(ascii: "="), text.count - characters.count < 2 {
            characters = characters.dropLast()
        }
        let isPadded = characters.count < text.count
        guard characters.count % 4 != 1, !isPadded || text.count % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for character in characters {
            let value = values[Int(character)]
            guard value != 255 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}
