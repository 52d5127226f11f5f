import CNames

/// What keeps one name from passing for another by letters that look alike (Unicode Technical Standard 39).
///
/// A word is written in one script, or in several that a language writes together; `cnames.h` says which. A text may have
/// words of several scripts, as "Команда iOS": a whole word of look-alikes is as legal alone as in company. Two names may so
/// still look alike; they are never keys, which usernames are.
enum ScriptRule {
    /// The most marks on one letter (section 5.4 there): no language needs more, and a pile of them covers other lines.
    static let marksMax = 4

    /// The text in normal form C, with letters and digits that are only another style or width made plain.
    static func normalized(_ text: String) throws(TextError) -> String {
        var text = text
        var length = 0
        // Normal form C of UTF-8 is at most three times as long (Unicode Standard Annex 15, section 10).
        var room = [CChar](repeating: 0, count: 3 * text.utf8.count)
        let result = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                cnames_normalize($0.baseAddress, $0.count, &room, room.count, &length)
            }
        }
        guard result == CNAMES_OK else { throw .unreadable }
        return String(decoding: room[..<length].lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Refuses words of mixed scripts and letters under a pile of marks.
    static func check(_ text: some StringProtocol) throws(TextError) {
        var marks = 0
        var word: [CChar] = []
        var isPlain = true
        for scalar in text.unicodeScalars {
            let kind = kind(of: scalar)
            marks = kind == .mark ? marks + 1 : 0
            guard marks <= marksMax else { throw .tooManyMarks(marksMax: marksMax) }
            if kind == .other {
                if !isPlain { try check(word: word) }
                word.removeAll(keepingCapacity: true)
                isPlain = true
            } else {
                word += UTF8.encode(scalar).map { $0.map(CChar.init(bitPattern:)) } ?? []
                isPlain = isPlain && scalar.isASCII
            }
        }
        if !isPlain { try check(word: word) }
    }

    private static func check(word: [CChar]) throws(TextError) {
        var isMixed = false
        guard cnames_check_word(word, word.count, &isMixed) == CNAMES_OK else { throw .unreadable }
        guard !isMixed else { throw .mixedScripts }
    }

    private enum Kind { case mark, letter, other }

    private static func kind(of scalar: Unicode.Scalar) -> Kind {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: .mark
        case .spacingMark, .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber, .letterNumber, .otherNumber, .format:
            .letter
        default: .other
        }
    }
}
