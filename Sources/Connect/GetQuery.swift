/// The query of a unary GET ("Unary-Get-Request"). The first value of a repeated parameter counts; unknown parameters are
/// ignored.
struct GetQuery {
    private var values: [String: [UInt8]] = [:]

    private static let names: Set = ["message", "encoding", "base64", "compression", "connect"]

    /// Nil if a percent sign is not followed by two digits.
    init?(_ query: Substring?) {
        for pair in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]) else { return nil }
            let known = String(decoding: name, as: UTF8.self)
            guard Self.names.contains(known), values[known] == nil else { continue }
            guard let value = Self.decoded(parts.count == 2 ? parts[1] : parts[0].suffix(0)) else { return nil }
            values[known] = value
        }
    }

    var encoding: String? { text("encoding") }
    var compression: RequestFields.Coding? {
        values["compression"].map { $0.withUnsafeBytes { RequestFields.Coding($0) } }
    }
    /// The version of the protocol; nil if the query has none.
    var version: String? { text("connect") }
    /// The decoded `message`, percent-encoded or base64.
    var message: [UInt8]? { values["message"] }
    /// Whether `message` is in base64. Values other than 1 are ignored.
    var isBase64: Bool { text("base64") == "1" }

    private func text(_ name: String) -> String? { values[name].map { String(decoding: $0, as: UTF8.self) } }

    /// Decodes percent-encoding, with `+` for a space as in forms, which browsers use in queries.
    private static func decoded(_ text: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
