/// The rule for texts that one person writes and others read.
///
/// White space around the text is dropped, and so is what cannot be seen, such as zero-width spaces and stray joiners and
/// direction marks; joiners stay where Persian, Indic scripts and emoji are written with them. What stays is brought into
/// normal form C, with full-width and mathematical letters and digits made plain.
///
/// Characters are counted as people count them: extended grapheme clusters (Unicode Standard Annex 29), so a family emoji
/// is one. Refused are control characters and line breaks, which break up whatever prints the text; the characters that
/// embed, override or isolate a writing direction (Unicode Standard Annex 9, section 2), with which a text can make its
/// surroundings read as something else; and words that mix scripts to look like another name (``ScriptRule``).
struct VisibleText {
    /// The fewest visible characters.
    let charactersMin: Int
    /// The most characters.
    let charactersMax: Int
    /// The most bytes of UTF-8.
    let bytesMax: Int

    /// The accepted text of what was given, trimmed.
    func accept(_ text: String) throws(TextError) -> String {
        // Before anything that looks at each character: a megabyte is refused by its size alone. Twice the bound
        // leaves room for white space that trimming removes.
        guard text.utf8.count <= 2 * bytesMax else { throw .tooLong(charactersMax: charactersMax) }
        // What most names are needs none of the work: it is in normal form and of one script.
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        let cleaned = isASCII ? text : try ScriptRule.normalized(InvisibleText.removed(from: text))
        let trimmed = Self.trim(cleaned)

        var characters = 0
        var visibleCharacters = 0
        for character in trimmed {
            characters += 1
            var isVisible = false
            for scalar in character.unicodeScalars {
                guard !Self.isForbidden(scalar) else { throw .forbiddenCharacter }
                isVisible = isVisible || Self.isVisible(scalar)
            }
            visibleCharacters += isVisible ? 1 : 0
        }
        guard characters <= charactersMax else { throw .tooLong(charactersMax: charactersMax) }
        guard trimmed.utf8.count <= bytesMax else { throw .tooManyBytes(bytesMax: bytesMax) }
        // White space inside a text counts, but a text of nothing else was trimmed to nothing.
        guard visibleCharacters >= charactersMin else { throw .tooShort(charactersMin: charactersMin) }
        if !isASCII { try ScriptRule.check(trimmed) }
        return String(trimmed)
    }

    private static func trim(_ text: String) -> Substring {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return text[first...last]
    }

    static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator:
            return true
        default:
            break
        }
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069: return true
        case 0xFFF9...0xFFFB: return true  // interlinear annotations, which hide what they annotate
        default: return false
        }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint { return false }
        switch properties.generalCategory {
        case .format, .unassigned, .surrogate: return false
        default: return scalar.value != 0x2800  // the Braille pattern of no dots, a blank that isn't white space
        }
    }
}
