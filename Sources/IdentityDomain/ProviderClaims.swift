/// What a verified ID token says of a person.
public struct ProviderClaims: Sendable, Hashable {
    /// The provider's name for the person, and with the provider the only key of an account.
    public let subject: String
    /// Which of our apps the token was issued to.
    public let audience: String
    /// What is asked of tokens of that app.
    public let policy: AudiencePolicy
    /// Whether the nonce proves that the token was made for that app.
    public let nonceVerdict: NonceVerdict
    /// When the token was issued, in Unix seconds.
    public let issuedAtSeconds: Int64
    /// Until when the token would be accepted, in Unix seconds, leeway included.
    public let acceptedUntilSeconds: Int64
    /// The e-mail, if the token has one that looks like one. Never a key.
    public let email: String?
    /// Whether the provider says that it verified the e-mail.
    public let isEmailVerified: Bool
    /// Whether the e-mail is a relay address.
    public let isPrivateEmail: Bool
    /// The `name` claim as it stands; Google sends one, Apple never does.
    public let name: String?
    /// Apple's `real_user_status`: 0 unsupported, 1 unknown, 2 likely real. Recorded, never a reason to refuse.
    public let realUserStatus: Int16?
    /// Apple's name for the person between the team that the app belonged to and today's, told for 60 days after it changed
    /// teams: by it the account is found that they had before. Nil in all other tokens.
    public var transferSubject: String?
    /// The phone number, in E.164 with the leading plus, if the provider is trusted for it and says that it verified it.
    public var phoneNumber: String?
}

/// What came of comparing a token's `nonce` with what the app presented.
public enum NonceVerdict: Sendable, Hashable {
    /// The app knows the nonce that the token carries.
    case proven
    /// It doesn't, there is none, or none was asked for: something else must prove the sign-in.
    case notProven
}
