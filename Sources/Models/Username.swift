/// A name that one person alone has: 3 to 20 ASCII letters, digits and underscores, unique without regard to case.
public struct Username: Sendable, Hashable, CustomStringConvertible {
    /// Why a text is no username.
    public enum Fault: Error, Sendable, Hashable {
        /// The text has fewer than ``Username/lengthMin`` characters.
        case tooShort
        /// The text has more than ``Username/lengthMax`` characters.
        case tooLong
        /// The text holds something else than ASCII letters, digits and underscores.
        case forbiddenCharacter

        /// The fault in words for people.
        public var words: String {
            switch self {
            case .tooShort: "The username must have at least \(Username.lengthMin) characters."
            case .tooLong: "The username must have at most \(Username.lengthMax) characters."
            case .forbiddenCharacter: "The username may contain only the letters a to z, digits and underscores."
            }
        }
    }

    /// The fewest characters.
    public static let lengthMin = 3
    /// The most characters.
    public static let lengthMax = 20

    /// The name as its owner writes it.
    public let value: String
    /// The name in lowercase, by which it is unique.
    public let key: String

    /// Parses what a user typed. White space around it is an error like any other forbidden character.
    public init(_ text: String) throws(Fault) {
        // Characters first, so that the error for "ab c" is about its space and not about its length. Only a bounded
        // number of bytes is checked.
        for byte in text.utf8.prefix(4 * Self.lengthMax) where !Self.isAllowed(byte) { throw .forbiddenCharacter }
        guard text.utf8.count >= Self.lengthMin else { throw .tooShort }
        guard text.utf8.count <= Self.lengthMax else { throw .tooLong }
        self.value = text
        self.key = text.lowercased()
    }

    /// A username that was accepted before, from where it was stored. It isn't looked at again: a username must stay
    /// readable after the rules have changed.
    public init(stored text: String) {
        self.value = text
        self.key = text.lowercased()
    }

    /// The name as its owner writes it.
    public var description: String { value }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default:
            false
        }
    }
}
