/// CBOR as an authenticator writes it, for tests.
enum CBORText {
    /// An integer.
    static func integer(_ number: Int64) -> [UInt8] {
        number < 0 ? head(0x20, UInt64(-1 - number)) : head(0x00, UInt64(number))
    }

    /// A byte string.
    static func bytes(_ bytes: [UInt8]) -> [UInt8] { head(0x40, UInt64(bytes.count)) + bytes }

    /// A text.
    static func text(_ text: String) -> [UInt8] { head(0x60, UInt64(text.utf8.count)) + Array(text.utf8) }

    /// An array of items.
    static func array(_ items: [[UInt8]]) -> [UInt8] { head(0x80, UInt64(items.count)) + items.joined() }

    /// A map of keys and values.
    static func map(_ entries: [(key: [UInt8], value: [UInt8])]) -> [UInt8] {
        head(0xa0, UInt64(entries.count)) + entries.flatMap { $0.key + $0.value }
    }

    private static func head(_ type: UInt8, _ number: UInt64) -> [UInt8] {
        let bytes = withUnsafeBytes(of: number.bigEndian) { Array($0) }
        switch number {
        case ..<24: return [type | bytes[7]]
        case ...0xff: return [type | 24, bytes[7]]
        case ...0xffff: return [type | 25] + bytes[6...]
        case ...0xffff_ffff: return [type | 26] + bytes[4...]
        default: return [type | 27] + bytes
        }
    }
}
