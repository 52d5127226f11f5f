/// A group's name: 1 to 80 characters as people count them.
///
/// The name is kept as written but for white space around it, what cannot be seen, and its normal form (C). See
/// ``TextError`` for what is refused.
public struct GroupName: Sendable, Hashable, CustomStringConvertible {
    /// The fewest visible characters.
    public static let charactersMin = 1
    /// The most characters.
    public static let charactersMax = 80
    /// The most bytes of UTF-8: enough for eighty of the longest emoji in use.
    public static let bytesMax = 3_200

    private static let rule = VisibleText(
        charactersMin: charactersMin,
        charactersMax: charactersMax,
        bytesMax: bytesMax
    )

    /// The name.
    public let value: String

    /// A group name of what a person typed.
    public init(_ text: String) throws(TextError) {
        self.value = try Self.rule.accept(text)
    }

    /// A name that was accepted before, from where it was stored. It isn't looked at again: a name must stay readable
    /// after the rules have changed.
    public init(stored text: String) { self.value = text }

    /// A mask, so that a name that slips into a log line isn't disclosed. Use ``value`` to show it.
    public var description: String { "GroupName(\(value.count) characters)" }
}
