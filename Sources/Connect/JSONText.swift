/// Writes JSON text (RFC 8259).
struct JSONText {
    private(set) var bytes: [UInt8] = []

    /// Adds punctuation, or text that is JSON already.
    mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Adds JSON from another encoder.
    mutating func append(json: [UInt8]) { bytes.append(contentsOf: json) }

    /// Adds a string, with the required escapes (section 7).
    mutating func append(string: some Collection<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        for byte in string {
            switch byte {
            case UInt8(ascii: "\""): append("\\\"")
            case UInt8(ascii: "\\"): append("\\\\")
            case 0x0a: append("\\n")
            case 0x0d: append("\\r")
            case 0x09: append("\\t")
            case ..<0x20:
                append("\\u00")
                bytes.append(Self.digits[Int(byte >> 4)])
                bytes.append(Self.digits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
