/// The language ranges of a request, the most wanted first.
enum LanguageRanges {
    /// How much of a header field or parameter is read, in bytes.
    static let bytesMax = 512
    /// How many ranges are read.
    static let countMax = 32

    /// The ranges of `ui_locales`: tags with spaces between, the most wanted first.
    static func ofClient(_ text: String) -> [String] {
        bounded(text).split(separator: UInt8(ascii: " ")).prefix(countMax).compactMap(range)
    }

    /// The ranges of `Accept-Language` (RFC 9110 section 12.5.4), without those of weight 0.
    static func ofBrowser(_ text: String) -> [String] {
        let weighted = bounded(text).split(separator: UInt8(ascii: ",")).prefix(countMax)
            .compactMap { element -> (range: String, weight: Int)? in
                let parts = element.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
                guard let range = range(trimmed(parts[0])), parts.count <= 2 else { return nil }
                guard let weight = parts.count == 1 ? 1000 : weight(trimmed(parts[1])), weight > 0 else { return nil }
                return (range, weight)
            }
        // Among equals the first one in the field is the more wanted, so the order must be kept.
        return weighted.enumerated()
            .sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }
            .map(\.element.range)
    }

    /// What of a text is read.
    private static func bounded(_ text: String) -> Substring.UTF8View { text.utf8.prefix(bytesMax) }

    private static func trimmed(_ part: Substring.UTF8View) -> Substring.UTF8View {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var part = part.drop(while: isSpace)
        while let last = part.last, isSpace(last) { part = part.dropLast() }
        return part
    }

    /// A range that could be a tag; nil for `*`, which asks for nothing, and for what is none.
    private static func range(_ bytes: Substring.UTF8View) -> String? {
        let text = String(Substring(bytes))
        return LanguageTag.isTag(text) ? text : nil
    }

    /// A weight in thousandths (RFC 9110 section 12.4.2): `q=`, 0 or 1, and at most three digits behind the point.
    private static func weight(_ bytes: Substring.UTF8View) -> Int? {
        let text = Array(bytes)
        guard text.count >= 3, text[0] | 0x20 == UInt8(ascii: "q"), text[1] == UInt8(ascii: "="),
            text[2] == UInt8(ascii: "0") || text[2] == UInt8(ascii: "1"), text.count <= 7
        else { return nil }
        var weight = Int(text[2] - UInt8(ascii: "0")) * 1000
        guard text.count > 3 else { return weight }
        guard text[3] == UInt8(ascii: ".") else { return nil }
        var unit = 100
        for byte in text[4...] {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
            weight += Int(byte - UInt8(ascii: "0")) * unit
            unit /= 10
        }
        return weight <= 1000 ? weight : nil
    }
}
