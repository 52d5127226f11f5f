/// What an OAuth client may ask for (OpenID Connect Core sections 5.4 and 11).
public enum OAuthScope: String, Sendable, Hashable, CaseIterable, Comparable {
    /// An ID token.
    case openid
    /// Name, username and picture.
    case profile
    /// The e-mail address.
    case email
    /// The phone number.
    case phone
    /// A refresh token.
    case offlineAccess = "offline_access"

    /// In the order in which they are written.
    public static func < (one: Self, other: Self) -> Bool {
        (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
    }

    /// The scopes that a text names; unknown ones are ignored (section 3.1.2.1).
    public static func read(_ text: String) -> Set<OAuthScope> {
        Set(text.split(separator: " ").compactMap { OAuthScope(rawValue: String($0)) })
    }
}

extension Set<OAuthScope> {
    /// As a parameter or claim has them (RFC 6749 section 3.3).
    public var text: String { sorted().map(\.rawValue).joined(separator: " ") }
}
