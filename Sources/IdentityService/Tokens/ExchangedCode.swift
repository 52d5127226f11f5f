import IdentityDomain

/// What a provider answered for a code or an access token, judged by its policy.
struct ExchangedCode: Sendable, Hashable {
    /// What buys one session: that of the ID token which came back, or of the access token.
    let fingerprint: [UInt8]
    /// What the provider says of the person; no nonce was asked for.
    let claims: ProviderClaims
    /// The provider's refresh token; nil if none came. A secret.
    var refreshToken: String?
}
