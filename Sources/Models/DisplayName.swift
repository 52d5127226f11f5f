/// A person's name as others see it: 2 to 50 characters as people count them.
///
/// The name is kept as written but for white space around it, what cannot be seen, and its normal form (C). See
/// ``TextError`` for what is refused.
public struct DisplayName: Sendable, Hashable, CustomStringConvertible {
    /// The fewest visible characters.
    public static let charactersMin = 2
    /// The most characters.
    public static let charactersMax = 50
    /// The most bytes of UTF-8: enough for fifty of the longest emoji in use.
    public static let bytesMax = 2_000

    private static let rule = VisibleText(
        charactersMin: charactersMin,
        charactersMax: charactersMax,
        bytesMax: bytesMax
    )

    /// The name.
    public let value: String

    /// A display name of what a person typed.
    public init(_ text: String) throws(TextError) {
        self.value = try Self.rule.accept(text)
    }

    /// A name that was accepted before, from where it was stored. It isn't looked at again: a name must stay readable
    /// after the rules have changed.
    public init(stored text: String) { self.value = text }

    /// A mask, so that a name that slips into a log line isn't disclosed. Use ``value`` to show it.
    public var description: String { "DisplayName(\(value.count) characters)" }
}
