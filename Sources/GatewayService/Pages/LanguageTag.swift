/// Tags of languages (BCP 47).
enum LanguageTag {
    /// The longest tag, in bytes (RFC 5646 section 4.4.1).
    static let bytesMax = 35

    /// Whether a text has the form of a tag: letters and digits in parts of one to eight with hyphens between, letters first.
    static func isTag(_ text: String) -> Bool {
        guard 2...bytesMax ~= text.utf8.count else { return false }
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts[0].allSatisfy(isLetter) && parts[0].count >= 2
            && parts.allSatisfy { 1...8 ~= $0.count && $0.allSatisfy { isLetter($0) || isDigit($0) } }
    }

    /// A tag without its last part, and without what introduces that part (RFC 4647 section 3.4); empty if there is no other part.
    static func shortened(_ tag: String) -> String {
        var parts = tag.split(separator: "-").dropLast()
        while parts.last?.utf8.count == 1 { parts = parts.dropLast() }
        return parts.joined(separator: "-")
    }

    /// A tag in lower case with the language's preferred code, where browsers still send an older or a wider one.
    static func preferred(_ tag: String) -> String {
        let language = tag.prefix { $0 != "-" }
        return (preferredCodes[String(language)] ?? String(language)) + tag.dropFirst(language.count)
    }

    /// Whether a language is written from right to left: by its script if the tag names one, else by the language's usual one.
    static func isRightToLeft(_ tag: String) -> Bool {
        let parts = tag.lowercased().split(separator: "-").map(String.init)
        if let script = parts.dropFirst().first(where: { $0.utf8.count == 4 && $0.utf8.allSatisfy(isLetter) }) {
            return rightToLeftScripts.contains(script)
        }
        return parts.first.map(rightToLeftLanguages.contains) ?? false
    }

    /// Filipino is the standard form of Tagalog; the others are codes that were replaced.
    private static let preferredCodes = ["tl": "fil", "iw": "he", "in": "id", "ji": "yi"]
    private static let rightToLeftScripts: Set = ["arab", "hebr", "thaa", "syrc", "nkoo", "adlm", "rohg"]
    private static let rightToLeftLanguages: Set = [
        "ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "syr", "ug", "ur", "yi",
    ]

    private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }
    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}
