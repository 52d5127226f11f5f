/// Base64url without padding, as RFC 7515 section 2 wants it: strict both ways.
public enum Base64URL {
    /// The text of `bytes`, without padding.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        bytes.withContiguousStorageIfAvailable(encode(buffer:)) ?? Array(bytes).withUnsafeBufferPointer(encode(buffer:))
    }

    private static func encode(buffer bytes: UnsafeBufferPointer<UInt8>) -> String {
        let count = (bytes.count * 4 + 2) / 3
        return String(unsafeUninitializedCapacity: count) { characters in
            alphabet.withUnsafeBufferPointer { alphabet in
                var bits: UInt32 = 0
                var bitCount: UInt32 = 0
                var place = 0
                for byte in bytes {
                    bits = bits << 8 | UInt32(byte)
                    bitCount += 8
                    while bitCount >= 6 {
                        bitCount -= 6
                        characters[place] = alphabet[Int(bits >> bitCount & 0x3f)]
                        place += 1
                    }
                }
                if bitCount > 0 {
                    characters[place] = alphabet[Int(bits << (6 - bitCount) & 0x3f)]
                    place += 1
                }
                return place
            }
        }
    }

    /// The bytes of `text`, or nil if it holds padding, white space, any character outside the alphabet, an
    /// impossible length, or bits after the last byte that are not zero (so that each value has one spelling only).
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(utf8: text.utf8)
    }

    /// As ``decode(_:)``, from the text's UTF-8 bytes.
    public static func decode(utf8 text: some Collection<UInt8>) -> [UInt8]? {
        text.withContiguousStorageIfAvailable(decode(buffer:)) ?? Array(text).withUnsafeBufferPointer(decode(buffer:))
    }

    private static func decode(buffer text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count * 3 / 4) { buffer, count in
            values.withUnsafeBufferPointer { values in
                for character in text {
                    let value = values[Int(character)]
                    guard value < 64 else {
                        isValid = false
                        return
                    }
                    bits = bits << 6 | UInt32(value)
                    bitCount += 6
                    if bitCount >= 8 {
                        bitCount -= 8
                        buffer[count] = UInt8(truncatingIfNeeded: bits >> bitCount)
                        count += 1
                    }
                }
            }
        }
        return isValid && bits & (1 << bitCount - 1) == 0 ? bytes : nil
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
