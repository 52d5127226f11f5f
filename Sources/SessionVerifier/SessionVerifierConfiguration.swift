/// What a service expects of tokens, and the bounds of verifying them.
public struct SessionVerifierConfiguration: Sendable {
    /// The `iss` that access tokens must have: VESTIBULE_IDENTITY_ISSUER.
    public var issuer: String
    /// The `aud` that access tokens must have: VESTIBULE_IDENTITY_AUDIENCE.
    public var audience: String

    /// How long identity may take to answer, where it is asked in a call. Then the call fails with `.unavailable`.
    public var askTimeout: Duration = .seconds(2)
    /// How far the clocks of this machine and of identity's may be apart. News that are older by this than they may be don't
    /// count, and then identity is asked for each call: it may also be that they were long on their way.
    public var clockTolerance: Duration = .seconds(5)
    /// Sessions that ended and whose tokens may still look valid, at most. While one had no room identity is asked for each
    /// call.
    public var endedSessionsMax = 1_000_000
    /// Tokens that were verified and are remembered, at most, so that they cost no signature a second time.
    public var rememberedTokensMax = 50_000
    /// The least time between two fetches of the key set for tokens that name an unknown key.
    public var keySetCooldown: Duration = .seconds(10)
    /// The wait before a stream that ended is opened again: a bound that doubles up to `reconnectWaitMax`.
    public var reconnectWait: Duration = .milliseconds(50)
    /// The largest such bound.
    public var reconnectWaitMax: Duration = .seconds(2)

    /// A configuration with the default bounds.
    public init(issuer: String, audience: String) {
        self.issuer = issuer
        self.audience = audience
    }
}
