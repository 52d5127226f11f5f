/// Why an account is blocked: a word of the operator's, so that nothing about a person stands in the audit log by it.
public struct BlockReason: Sendable, Hashable {
    /// The longest word.
    public static let charactersMax = 64

    /// The word, of letters a to z and underscores.
    public let word: String

    /// The reason that a text is.
    ///
    /// - Throws: the refusal, if it is no such word.
    public init(_ text: String, or refusal: OperatorRefusal) throws(IdentityError) {
        guard let reason = BlockReason(text) else { throw .operation(refusal) }
        self = reason
    }

    /// The reason that a text is; nil if it is no such word.
    public init?(_ text: String) {
        let isWord = text.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == UInt8(ascii: "_") }
        guard isWord, 1...Self.charactersMax ~= text.utf8.count else { return nil }
        word = text
    }
}
