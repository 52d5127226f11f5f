/// Why a text that people see, such as a display name, is refused.
public enum TextError: Error, Sendable, Hashable {
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

    /// The fault in words for people: the end of a sentence that begins with what the text is, such as "The display name".
    public var words: String {
        switch self {
        case .tooShort(let charactersMin) where charactersMin == 1: "must have at least one visible character."
        case .tooShort(let charactersMin): "must have at least \(charactersMin) visible characters."
        case .tooLong(let charactersMax): "must have at most \(charactersMax) characters."
        case .tooManyBytes(let bytesMax): "must take at most \(bytesMax) bytes."
        case .forbiddenCharacter: "must not contain line breaks, control or direction characters."
        case .mixedScripts: "must not mix letters of different scripts within a word."
        case .tooManyMarks(let marksMax): "must not have more than \(marksMax) marks on a letter."
        case .unreadable: "could not be read now. Try again."
        }
    }
}
