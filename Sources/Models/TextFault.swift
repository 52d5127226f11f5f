/// Why a text that people see, such as a display name, is refused.
public enum TextFault: Error, Sendable, Hashable {
    /// The text has fewer visible characters than it must have.
    case tooShort(charactersMin: Int)
    /// The text has more characters than it may have.
    case tooLong(charactersMax: Int)
    /// The text takes more bytes of UTF-8 than it may, though its characters are few: marks piled on one letter.
    case tooManyBytes(bytesMax: Int)
    /// The text holds a control character, a line break, or a character that turns the direction of its neighbours.
    case forbiddenCharacter
    /// A word mixes scripts that no language writes together, and so may pass for another word.
    case mixedScripts
    /// A letter carries more marks than any language puts on one.
    case tooManyMarks(marksMax: Int)
    /// The text couldn't be judged, because the library that knows scripts failed.
    case unreadable
}
