/// The claims that a service expects of tokens, and the limits of verification.
public struct SessionVerifierConfiguration: Sendable {
    /// The `iss` that access tokens must have: VESTIBULE_IDENTITY_ISSUER.
    public var issuer: String
    /// The `aud` that access tokens must have: VESTIBULE_IDENTITY_AUDIENCE.
    public var audience: String

    /// How long identity may take to answer when a call asks it. After that the call fails with `.unavailable`.
    public var askTimeout: Duration = .seconds(2)
    /// The tolerated difference between the clocks of this machine and identity's. A message that is too old by more than this
    /// doesn't count, since it may have been long on its way; then each call asks identity.
    public var clockTolerance: Duration = .seconds(5)
    /// The maximum of kept ended sessions whose tokens may still look valid. While one had no room, each call asks identity.
    public var endedSessionsMax = 1_000_000
    /// The maximum of remembered verified tokens, whose signatures needn't be verified again.
    public var rememberedTokensMax = 50_000
    /// The least time between two fetches of the key set for tokens that name an unknown key.
    public var keySetCooldown: Duration = .seconds(10)
    /// The first bound of the wait before a stream is opened again; it doubles up to `reconnectWaitMax`.
    public var reconnectWait: Duration = .milliseconds(50)
    /// The largest such bound.
    public var reconnectWaitMax: Duration = .seconds(2)

    /// A configuration with the default limits.
    public init(issuer: String, audience: String) {
        self.issuer = issuer
        self.audience = audience
    }
}
