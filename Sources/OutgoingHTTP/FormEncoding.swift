/// Encodes `application/x-www-form-urlencoded`, for forms and queries.
enum FormEncoding {
    /// Encodes names and values in UTF-8, with all but RFC 3986's unreserved characters percent-encoded: a space is `%20`,
    /// which both forms and queries accept.
    static func encode(_ fields: [OutgoingRequest.Field]) -> String {
        var text: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { text.append(UInt8(ascii: "&")) }
            append(field.name, to: &text)
            text.append(UInt8(ascii: "="))
            append(field.value, to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func append(_ part: String, to text: inout [UInt8]) {
        for byte in part.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.append(byte)
            default:
                text += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 0x0f)]
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
