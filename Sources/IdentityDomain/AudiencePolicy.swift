/// One of our apps as a provider knows it, and what is asked of a token that was issued to it.
public struct AudiencePolicy: Sendable, Hashable {
    /// What the app is.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An app with the provider's SDK: a bundle id, an Android or iOS client id.
        case native = "native"
        /// A Services ID of Apple: web pages, and Android by a browser.
        case services = "services"
        /// A client of a website.
        case web = "web"
    }

    /// What becomes of the `nonce` claim.
    public enum Nonce: String, Sendable, Hashable, CaseIterable {
        /// The token must carry one, and the app must prove it.
        case required = "required"
        /// As ``required``, and it must be one of ours for this audience, made a moment ago (``SignInNonces``). Nothing but an
        /// ID token with it signs in.
        case server = "server"
        /// A token that carries one must be proven, or leaving it out would be a way round; one without goes by
        /// ``AudiencePolicy/withoutNonce``.
        case optional = "optional"
        /// The SDK puts one in that the app can't know: unless the app proves it, it counts as none.
        case unknown = "unknown"
    }

    /// What proves a sign-in whose nonce is not proven.
    public enum WithoutNonce: String, Sendable, Hashable, CaseIterable {
        /// Nothing does.
        case refuse = "refuse"
        /// The authorization code that comes along: its exchange must name the same subject.
        case code = "code"
        /// That the token is young (``AudiencePolicy/freshSecondsMax``) and buys its first session, or is a retry of that.
        /// Another backend of the same audience could use it first, and a token that an SDK restored silently is too old.
        case fresh = "fresh"
    }

    /// The longest id, in bytes.
    public static let idBytesMax = 255
    /// For how long access tokens of an app may live, in seconds.
    public static let accessTokenSecondsRange: ClosedRange<Int64> = 30...3600
    /// How long ago a token may have been issued that is proven by being fresh.
    public static let freshSecondsMax: Int64 = 600

    /// What `aud` says: a bundle id, a Services ID, a client id.
    public let id: String
    /// What the app is.
    public let kind: Kind
    /// How a nonce is compared.
    public let match: NonceMatch
    /// What becomes of the `nonce` claim.
    public let nonce: Nonce
    /// What proves a sign-in whose nonce is not proven.
    public let withoutNonce: WithoutNonce
    /// For how long access tokens of this app live, in seconds; nil is the deployment's default.
    public let accessTokenSeconds: Int64?
    /// Whether sessions of this app get an ID token of ours beside their other tokens: it is a signature at each sign-in and refresh.
    public let hasIDToken: Bool
    /// Whether sessions of this app must be bound to a key of the client (RFC 9449).
    public let requiresKey: Bool

    /// Whether a token that names this audience and another one is judged the same way by both.
    func hasSameRules(as other: AudiencePolicy) -> Bool {
        match == other.match && nonce == other.nonce && withoutNonce == other.withoutNonce
            && requiresKey == other.requiresKey
    }

    /// An audience.
    public init(
        id: String,
        kind: Kind = .native,
        match: NonceMatch,
        nonce: Nonce = .required,
        withoutNonce: WithoutNonce = .refuse,
        accessTokenSeconds: Int64? = nil,
        hasIDToken: Bool = true,
        requiresKey: Bool = false
    ) {
        self.id = id
        self.kind = kind
        self.match = match
        self.nonce = nonce
        self.withoutNonce = withoutNonce
        self.accessTokenSeconds = accessTokenSeconds
        self.hasIDToken = hasIDToken
        self.requiresKey = requiresKey
    }
}
