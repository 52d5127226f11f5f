import RPC

/// The id by which a request is found in logs.
public enum RequestName {
    /// The longest id that is taken from a client, in bytes.
    static let bytesMax = 128

    /// A new id: 32 hexadecimal digits. It is no secret.
    public static func make() -> String { String(hexadecimal: UniqueNumbers.next(), UniqueNumbers.next()) }

    /// The client's id if it is 1 to 128 letters, digits, dots, hyphens and underscores; nothing else, so that nobody
    /// writes into our logs.
    public static func sane(_ text: String?) -> String? {
        guard let text, 1...bytesMax ~= text.utf8.count, text.utf8.allSatisfy(isAllowed) else { return nil }
        return text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
