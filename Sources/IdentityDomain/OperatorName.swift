/// The name of an operator who acts through a console, as the audit log has it: 1 to 64 ASCII letters, digits, dots, hyphens, underscores
/// and at signs. It can't be mistaken for a name in a certificate such as spiffe://vestibule/operator, which has a slash or stands in
/// VESTIBULE_IDENTITY_OPERATORS.
public struct OperatorName: Sendable, Hashable {
    /// The longest name.
    public static let charactersMax = 64
    /// The metadata by which a console names the operator.
    public static let metadataKey = "vestibule-operator"

    /// The name.
    public let value: String

    /// The name that a text is; nil if it can't be one.
    public init?(_ text: String) {
        guard 1...Self.charactersMax ~= text.utf8.count, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        value = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "@"):
            true
        default: false
        }
    }
}
