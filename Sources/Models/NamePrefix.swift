/// The beginning of a display name, by which operators look for people: 1 to 50 characters as people count them, in the normal form that names
/// are kept in.
public struct NamePrefix: Sendable, Hashable, CustomStringConvertible {
    private static let rule = VisibleText(
        charactersMin: 1,
        charactersMax: DisplayName.charactersMax,
        bytesMax: DisplayName.bytesMax
    )

    /// The text, without white space around it.
    public let value: String

    /// The beginning of a name as an operator typed it.
    public init(_ text: String) throws(TextError) { value = try Self.rule.accept(text) }

    /// A mask, as a name has it. Use ``value`` to search for it.
    public var description: String { "NamePrefix(\(value.count) characters)" }
}
