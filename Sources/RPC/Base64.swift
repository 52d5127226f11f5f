/// Base64 of RFC 4648 section 4, as `-bin` metadata uses it: written without padding, read with or without.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    /// The value of each character; 255 where it is not in the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> UInt32(count) & 63)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
        return text
    }

    /// Nil for a character outside the alphabet, padding that does not fit, or a length that no bytes encode to.
    static func decode(_ text: some BidirectionalCollection<UInt8>) -> [UInt8]? {
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
