import IdentityDomain

/// The built-in settings of well-known providers. The ids of their apps must always be configured.
struct BuiltInProvider {
    /// The spellings of the issuer.
    let issuers: [String]
    /// The URL of the key set.
    let keysURL: String?
    /// The other URLs.
    let endpoints: ProviderEndpoints
    /// How a nonce is compared by default.
    let match: NonceMatch
    /// How access tokens are checked, if they are to sign in.
    let accessTokens: AccessTokenKind?

    /// The built-in settings of a provider; none for a provider that isn't built in.
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
        // Never taken from discovery, which had another value for a day.
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
        // Apps send Google the raw nonce or its hash, depending on the platform's library.
        match: .either,
        accessTokens: .google
    )

    /// Limited Login's ID tokens (those of older SDKs name the issuer without `www`), and the Graph API's access tokens. Its token
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

    /// OpenID Connect Core section 3.1.3.7: the claim is the app's nonce, unchanged.
    private static let other = BuiltInProvider(
        issuers: [],
        keysURL: nil,
        endpoints: ProviderEndpoints(),
        match: .raw,
        accessTokens: nil
    )
}
