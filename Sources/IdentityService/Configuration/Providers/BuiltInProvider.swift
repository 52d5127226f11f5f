import IdentityDomain

/// What needn't be configured of the providers that everybody knows; their apps' ids always must.
struct BuiltInProvider {
    /// The spellings of the issuer.
    let issuers: [String]
    /// Where the key set is.
    let keysURL: String?
    /// The other URLs.
    let endpoints: ProviderEndpoints
    /// How a nonce is compared, where an audience doesn't say.
    let match: NonceMatch
    /// How it is asked about access tokens, if they are to sign in.
    let accessTokens: AccessTokenKind?

    /// What is known of a provider; of one that isn't built in, nothing.
    init(_ name: ProviderName) {
        switch name {
        case .apple: self = .apple
        case .google: self = .google
        case .facebook: self = .facebook
        default: self = .other
        }
    }

    private init(
        issuers: [String],
        keysURL: String?,
        endpoints: ProviderEndpoints,
        match: NonceMatch,
        accessTokens: AccessTokenKind?
    ) {
        self.issuers = issuers
        self.keysURL = keysURL
        self.endpoints = endpoints
        self.match = match
        self.accessTokens = accessTokens
    }

    private static let apple = BuiltInProvider(
        // Never taken from discovery, which said something else for a day.
        issuers: ["https://appleid.apple.com"],
        keysURL: "https://appleid.apple.com/auth/keys",
        endpoints: ProviderEndpoints(
            authorizationURL: "https://appleid.apple.com/auth/authorize",
            tokenURL: "https://appleid.apple.com/auth/token",
            revocationURL: "https://appleid.apple.com/auth/revoke",
            userMigrationURL: "https://appleid.apple.com/auth/usermigrationinfo"
        ),
        match: .sha256,
        accessTokens: nil
    )

    private static let google = BuiltInProvider(
        issuers: ["https://accounts.google.com", "accounts.google.com"],
        keysURL: "https://www.googleapis.com/oauth2/v3/certs",
        endpoints: ProviderEndpoints(
            authorizationURL: "https://accounts.google.com/o/oauth2/v2/auth",
            tokenURL: "https://oauth2.googleapis.com/token",
            revocationURL: "https://oauth2.googleapis.com/revoke",
            tokenInfoURL: "https://oauth2.googleapis.com/tokeninfo",
            userInfoURL: "https://openidconnect.googleapis.com/v1/userinfo"
        ),
        // Apps hand Google the raw nonce or its hash, depending on the platform's library.
        match: .either,
        accessTokens: .google
    )

    /// Limited Login's ID tokens (older SDKs' name the issuer without `www`), and the Graph API's access tokens. Its token
    /// endpoint answers without an ID token, so there is none here.
    private static let facebook = BuiltInProvider(
        issuers: ["https://www.facebook.com", "https://facebook.com"],
        keysURL: "https://limited.facebook.com/.well-known/oauth/openid/jwks/",
        endpoints: ProviderEndpoints(
            debugTokenURL: "https://graph.facebook.com/debug_token",
            userInfoURL: "https://graph.facebook.com/me"
        ),
        match: .either,
        accessTokens: .facebook
    )

    /// OpenID Connect Core section 3.1.3.7: the claim is what the app gave.
    private static let other = BuiltInProvider(
        issuers: [],
        keysURL: nil,
        endpoints: ProviderEndpoints(),
        match: .raw,
        accessTokens: nil
    )
}
