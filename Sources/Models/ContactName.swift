/// A person's name as somebody else calls them: 1 to 50 characters as people count them. Many a name has one character, and who adds a
/// person to a group writes as little as they know. A ``DisplayName`` is the name that a person gives themselves.
///
/// The name is kept as written but for white space around it, what cannot be seen, and its normal form (C). See
/// ``TextError`` for what is refused.
public struct ContactName: Sendable, Hashable, CustomStringConvertible {
    /// The fewest visible characters.
    public static let charactersMin = 1
    /// The most characters.
    public static let charactersMax = DisplayName.charactersMax
    /// The most bytes of UTF-8.
    public static let bytesMax = DisplayName.bytesMax

    private static let rule = VisibleText(
        charactersMin: charactersMin,
        charactersMax: charactersMax,
        bytesMax: bytesMax
    )

    /// The name.
    public let value: String

    /// A name of what a person typed.
    public init(_ text: String) throws(TextError) {
        self.value = try Self.rule.accept(text)
    }

    /// A name that was accepted before, from where it was stored. It isn't looked at again: a name must stay readable
    /// after the rules have changed.
    public init(stored text: String) { self.value = text }

    /// A mask, so that a name that slips into a log line isn't disclosed. Use ``value`` to show it.
    public var description: String { "ContactName(\(value.count) characters)" }
}
