/// Lowercase hexadecimal.
public enum Hex {
    /// Two lowercase digits a byte.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var characters: [UInt8] = []
        characters.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            characters.append(digit(byte >> 4))
            characters.append(digit(byte & 0x0f))
        }
        return String(decoding: characters, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
