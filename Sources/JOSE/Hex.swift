/// Lowercase hexadecimal.
public enum Hex {
    /// Two lowercase digits for each byte.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var characters: [UInt8] = []
        characters.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            characters.append(digit(byte >> 4))
            characters.append(digit(byte & 0x0f))
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// The bytes of pairs of digits, upper or lower case; nil for anything else.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let values = text.utf8.map(value)
        guard values.count.isMultiple(of: 2), !values.contains(nil) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { (values[$0] ?? 0) << 4 | (values[$0 + 1] ?? 0) }
    }

    private static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
