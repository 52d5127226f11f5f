/// Domains as clients write them in origins: RFC 1035's letters, digits and hyphens, in lower case.
enum Domain {
    /// The maximum length in characters.
    static let charactersMax = 253
    /// The maximum length of a label in characters.
    static let labelCharactersMax = 63

    /// Whether the text is `localhost`, or two or more labels of which the last is no number: a host that ends in a number is
    /// an IPv4 address (URL Standard, "ends in a number").
    static func isValid(_ text: String) -> Bool {
        if isLocalhost(text) { return true }
        guard text.utf8.count <= charactersMax else { return false }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count >= 2, labels.allSatisfy({ isLabel($0) }), let last = labels.last else { return false }
        return last.contains { !isDigit($0) }
    }

    /// Whether the text is `localhost`, in these bytes.
    static func isLocalhost(_ text: some StringProtocol) -> Bool { text.utf8.elementsEqual("localhost".utf8) }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return 1...labelCharactersMax ~= label.count && label.first != hyphen && label.last != hyphen
            && label.allSatisfy { isDigit($0) || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == hyphen }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}
