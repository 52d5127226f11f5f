/// Base64 with its own alphabet and padding (RFC 4648 section 4), strict: certificates in headers of tokens (RFC 7515 section 4.1.6),
/// and keys as consoles of others show them.
public enum StandardBase64 {
    /// The bytes of `text`, or nil for any character outside of the alphabet, white space among them, for missing or needless
    /// padding, and for bits after the last byte that are not zero.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 4) else { return nil }
        let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        var translated: [UInt8] = []
        translated.reserveCapacity(characters.count)
        for character in characters.dropLast(padding) {
            switch character {
            case UInt8(ascii: "+"): translated.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): translated.append(UInt8(ascii: "_"))
            case UInt8(ascii: "-"), UInt8(ascii: "_"): return nil
            default: translated.append(character)
            }
        }
        return Base64URL.decode(utf8: translated)
    }
}
