/// What we keep as an e-mail: text to show and to write to, never a key, so the rule only keeps nonsense out.
public enum EmailAddress {
    /// The longest address, in bytes (RFC 5321 section 4.5.3.1.3, less the brackets).
    public static let bytesMax = 254

    /// Whether it is an address of Apple's relay by its form: those that an app told come without Apple's word for it.
    public static func isRelay(_ address: String) -> Bool {
        address.lowercased().hasSuffix("@privaterelay.appleid.com")
    }

    /// The address, or nil if the text is none: then we have none, which no one is refused for.
    public static func accept(_ text: String) -> String? {
        guard 3...bytesMax ~= text.utf8.count else { return nil }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        let isClean = text.unicodeScalars.allSatisfy { scalar in
            scalar.value > 0x20 && scalar.value != 0x7f && !scalar.properties.isWhitespace
                && scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .format
        }
        return isClean ? text : nil
    }
}
