import CNames

/// Takes out of a text what cannot be seen (default-ignorable code points, Unicode Standard Annex 44): with it two names
/// that look alike would be two texts. What a script or an emoji is written with stays.
enum InvisibleText {
    /// How far a neighbour is looked for, so that a text of nothing else costs no more than any other.
    private static let distanceMax = 8

    /// The text without it. Characters that turn the direction of others stay, for the rule that refuses them.
    static func removed(from text: String) -> String {
        let scalars = withoutRepetitions(text.unicodeScalars)
        var kept = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            guard scalar.properties.isDefaultIgnorableCodePoint, !VisibleText.isForbidden(scalar) else {
                kept.append(scalar)
                continue
            }
            if isNeeded(index, scalars) { kept.append(scalar) }
        }
        return String(kept)
    }

    /// Two joiners in a row are one.
    private static func withoutRepetitions(_ scalars: String.UnicodeScalarView) -> [Unicode.Scalar] {
        var result: [Unicode.Scalar] = []
        for scalar in scalars where scalar.value != 0x200C && scalar.value != 0x200D || scalar != result.last {
            result.append(scalar)
        }
        return result
    }

    private static func isNeeded(_ index: Int, _ scalars: [Unicode.Scalar]) -> Bool {
        let previous = index > 0 ? scalars[index - 1] : nil
        let next = index + 1 < scalars.count ? scalars[index + 1] : nil
        switch scalars[index].value {
        case 0x200C:  // non-joiner: in Indic scripts and between letters that would join (RFC 5892, appendix A.1)
            return isVirama(previous) || separatesJoiningLetters(index, scalars)
        case 0x200D:  // joiner: in Indic scripts (appendix A.2; Bengali has it before as well) and between emoji
            return isVirama(previous) || isVirama(next) || joinsEmoji(index, scalars)
        case 0xFE0E, 0xFE0F:  // whether an emoji is shown in colour
            return previous?.properties.isEmoji == true
        case 0xFE00...0xFE0D, 0xE0100...0xE01EF:  // which form an ideograph has, as in Japanese family names
            return previous?.properties.isIdeographic == true
        case 0x180B...0x180F:  // which form a Mongolian letter has
            return previous.map { (0x1820...0x18AA).contains($0.value) } == true
        case 0xE0020...0xE007F:  // which flag of a region
            return isInFlag(index, scalars)
        default: return false
        }
    }

    private static func isVirama(_ scalar: Unicode.Scalar?) -> Bool {
        scalar?.properties.canonicalCombiningClass == .virama
    }

    private static func separatesJoiningLetters(_ index: Int, _ scalars: [Unicode.Scalar]) -> Bool {
        let before = scalars[max(0, index - distanceMax)..<index].reversed().lazy.map(joining)
        let after = scalars[(index + 1)..<min(scalars.count, index + 1 + distanceMax)].lazy.map(joining)
        guard let left = before.first(where: { $0 != CNAMES_JOINS_TRANSPARENT }),
            let right = after.first(where: { $0 != CNAMES_JOINS_TRANSPARENT })
        else { return false }
        return (left == CNAMES_JOINS_AFTER || left == CNAMES_JOINS_BOTH)
            && (right == CNAMES_JOINS_BEFORE || right == CNAMES_JOINS_BOTH)
    }

    private static func joining(_ scalar: Unicode.Scalar) -> cnames_joining { cnames_joining(scalar.value) }

    private static func joinsEmoji(_ index: Int, _ scalars: [Unicode.Scalar]) -> Bool {
        var left = index - 1
        if left > 0, scalars[left].value == 0xFE0F { left -= 1 }
        let right = index + 1
        guard left >= 0, right < scalars.count else { return false }
        return isPicture(scalars[left]) && isPicture(scalars[right])
    }

    /// Digits are emoji too, by what may follow them.
    private static func isPicture(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isEmoji && scalar.value > 0x7F }

    /// Whether tags stand between a black flag and the tag that ends them (Unicode Technical Standard 51, annex C).
    private static func isInFlag(_ index: Int, _ scalars: [Unicode.Scalar]) -> Bool {
        let before = scalars[max(0, index - distanceMax)..<index].reversed()
        guard before.first(where: { !isTag($0) })?.value == 0x1F3F4 else { return false }
        return scalars[index..<min(scalars.count, index + distanceMax)].prefix(while: isTag).contains {
            $0.value == 0xE007F
        }
    }

    private static func isTag(_ scalar: Unicode.Scalar) -> Bool { (0xE0020...0xE007F).contains(scalar.value) }
}
