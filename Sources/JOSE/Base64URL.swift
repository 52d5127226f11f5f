/// Base64url without padding (RFC 7515 section 2), strict in both directions.
public enum Base64URL {
    /// The text of `bytes`, without padding.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        bytes.withContiguousStorageIfAvailable(encode(buffer:)) ?? Array(bytes).withUnsafeBufferPointer(encode(buffer:))
    }

    private static func encode(buffer bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: characterCount(of: bytes.count)) { encode(bytes, into: $0) }
    }

    /// The number of characters for `byteCount` bytes.
    public static func characterCount(of byteCount: Int) -> Int { (byteCount * 4 + 2) / 3 }

    /// Writes the text of `bytes`, for which there must be room; returns the number of characters.
    private static func encode(
        _ bytes: UnsafeBufferPointer<UInt8>,
        into characters: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        alphabet.withUnsafeBufferPointer { alphabet in
            var (read, place) = (0, 0)
            while read + 3 <= bytes.count {
                let bits = UInt32(bytes[read]) << 16 | UInt32(bytes[read + 1]) << 8 | UInt32(bytes[read + 2])
                characters[place] = alphabet[Int(bits >> 18)]
                characters[place + 1] = alphabet[Int(bits >> 12 & 0x3f)]
                characters[place + 2] = alphabet[Int(bits >> 6 & 0x3f)]
                characters[place + 3] = alphabet[Int(bits & 0x3f)]
                read += 3
                place += 4
            }
            let left = bytes.count - read
            if left == 0 { return place }
            let bits = UInt32(bytes[read]) << 16 | (left == 2 ? UInt32(bytes[read + 1]) << 8 : 0)
            characters[place] = alphabet[Int(bits >> 18)]
            characters[place + 1] = alphabet[Int(bits >> 12 & 0x3f)]
            if left == 2 { characters[place + 2] = alphabet[Int(bits >> 6 & 0x3f)] }
            return place + left + 1
        }
    }

    /// The bytes of `text`, or nil if it holds padding, white space, any character outside the alphabet, an
    /// impossible length, or bits after the last byte that are not zero (so that each value has one spelling only).
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(utf8: text.utf8)
    }

    /// Like ``decode(_:)``, from the text's UTF-8 bytes.
    public static func decode(utf8 text: some Collection<UInt8>) -> [UInt8]? {
        text.withContiguousStorageIfAvailable(decode(buffer:)) ?? Array(text).withUnsafeBufferPointer(decode(buffer:))
    }

    private static func decode(buffer text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var isValid = false
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count * 3 / 4) { buffer, count in
            guard let decoded = decode(text, into: buffer) else { return }
            count = decoded
            isValid = true
        }
        return isValid ? bytes : nil
    }

    /// Writes the bytes of `text`, for which there must be room; returns their number, or nil if ``decode(_:)`` would.
    static func decode(_ text: UnsafeBufferPointer<UInt8>, into bytes: UnsafeMutableBufferPointer<UInt8>) -> Int? {
        let left = text.count % 4
        guard left != 1 else { return nil }
        return values.withUnsafeBufferPointer { values in
            var (read, count) = (0, 0)
            while read + 4 <= text.count {
                let (first, second) = (values[Int(text[read])], values[Int(text[read + 1])])
                let (third, fourth) = (values[Int(text[read + 2])], values[Int(text[read + 3])])
                guard first | second | third | fourth < 64 else { return nil }
                bytes[count] = first << 2 | second >> 4
                bytes[count + 1] = second << 4 | third >> 2
                bytes[count + 2] = third << 6 | fourth
                read += 4
                count += 3
            }
            if left == 0 { return count }
            let (first, second) = (values[Int(text[read])], values[Int(text[read + 1])])
            let third = left == 3 ? values[Int(text[read + 2])] : 0
            guard first | second | third < 64 else { return nil }
            bytes[count] = first << 2 | second >> 4
            guard left == 3 else { return second & 0xf == 0 ? count + 1 : nil }
            bytes[count + 1] = second << 4 | third >> 2
            return third & 0x3 == 0 ? count + 2 : nil
        }
    }

    /// Whether ``encode(_:)`` could return `text` for `byteCount` bytes.
    static func isText(_ text: UnsafeBufferPointer<UInt8>, ofBytes byteCount: Int) -> Bool {
        guard text.count == characterCount(of: byteCount), let last = text.last else {
            return text.isEmpty && byteCount == 0
        }
        return values.withUnsafeBufferPointer { values in
            var all: UInt8 = 0
            for character in text { all |= values[Int(character)] }
            let unusedBits: UInt8 = [0, 0xf, 0x3][byteCount % 3]
            return all < 64 && values[Int(last)] & unusedBits == 0
        }
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of each character, 255 for characters outside the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        return values
    }()
}
