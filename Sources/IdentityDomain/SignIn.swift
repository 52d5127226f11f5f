import Models

/// What a verified ID token and the app say, ready to be stored: everything that one sign-in changes.
public struct SignIn: Sendable, Hashable {
    /// SHA-256 over what the provider signed: a token buys one session.
    public let fingerprint: [UInt8]
    /// The provider.
    public let provider: ProviderName
    /// The provider's name for the person.
    public let subject: String
    /// The app.
    public let clientID: String
    /// The e-mail to show and write to; nil keeps the one that is known.
    public let email: String?
    /// Whether the e-mail is only what the app says: it never takes the place of one that a token told.
    public let isEmailTold: Bool
    /// Whether the provider verified it.
    public let isEmailVerified: Bool
    /// Whether it is a relay address.
    public let isPrivateEmail: Bool
    /// The name that was told; nil keeps the one that is known.
    public let toldName: String?
    /// The device as its app calls it.
    public let deviceName: String?
    /// Apple's guess whether the person is real; nil keeps the one that is known.
    public let realUserStatus: Int16?
    /// When the token was issued, in Unix seconds: one from before all sessions were ended is refused.
    public let issuedAtSeconds: Int64
    /// Until when the token would be accepted, in Unix seconds: so long its fingerprint is kept.
    public let acceptedUntilSeconds: Int64

    /// Puts together what is kept of a sign-in. What the app says is taken only where the token says nothing, and
    /// dropped where it is no name or e-mail: nothing of it is a reason to refuse.
    public init(
        fingerprint: [UInt8],
        provider: ProviderName,
        claims: ProviderClaims,
        fullName: String,
        email: String,
        deviceName: String
    ) {
        self.fingerprint = fingerprint
        self.provider = provider
        subject = claims.subject
        clientID = claims.audience
        self.email = claims.email ?? EmailAddress.accept(email)
        isEmailTold = claims.email == nil && self.email != nil
        isEmailVerified = claims.email != nil && claims.isEmailVerified
        isPrivateEmail = claims.email != nil && claims.isPrivateEmail
        toldName = ToldName.choose(fullName: fullName, tokenName: claims.name)
        self.deviceName = DeviceName.accept(deviceName)
        realUserStatus = claims.realUserStatus
        issuedAtSeconds = claims.issuedAtSeconds
        acceptedUntilSeconds = claims.acceptedUntilSeconds
    }
}

/// A sign-in that happened before with the same token.
public struct EarlierSignIn: Sendable, Hashable {
    /// When it happened, in Unix milliseconds.
    public let atMilliseconds: Int64
    /// How often its session was refreshed since.
    public let generation: UInt32
    /// Whether its session was ended.
    public let isRevoked: Bool

    /// Facts of an earlier sign-in.
    public init(atMilliseconds: Int64, generation: UInt32, isRevoked: Bool) {
        self.atMilliseconds = atMilliseconds
        self.generation = generation
        self.isRevoked = isRevoked
    }

    /// Whether presenting the token again now is a retry of an answer that was lost, and not a replay: soon after,
    /// and nobody has used the session's first refresh token yet.
    public func isRetry(nowMilliseconds: Int64, limits: SessionLimits) -> Bool {
        !isRevoked && generation == 0 && nowMilliseconds < atMilliseconds + limits.signInRetrySeconds * 1000
    }
}
