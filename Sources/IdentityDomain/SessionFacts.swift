import JOSE
import Models

/// What the tokens of a session say about it.
public struct SessionFacts: Sendable, Hashable {
    /// The account.
    public let userID: UserID
    /// The session.
    public let sessionID: SessionID
    /// The provider that the person signed in with.
    public let provider: ProviderName
    /// The app, as the provider named it in `aud`.
    public let clientID: String
    /// When the person signed in, in Unix seconds.
    public let signedInAtSeconds: Int64
    /// How the sign-in was proven.
    public let proof: Proof
    /// The key that its tokens are bound to (RFC 9449); nil for bearer tokens.
    public let key: JWKThumbprint?

    /// Whether it is a guest's. A guest who becomes a full account gets another session.
    public var isGuest: Bool { provider == .guest }

    /// Facts of a session.
    public init(
        userID: UserID,
        sessionID: SessionID,
        provider: ProviderName,
        clientID: String,
        signedInAtSeconds: Int64,
        proof: Proof,
        key: JWKThumbprint? = nil
    ) {
        self.userID = userID
        self.sessionID = sessionID
        self.provider = provider
        self.clientID = clientID
        self.signedInAtSeconds = signedInAtSeconds
        self.proof = proof
        self.key = key
    }
}

/// What an access token of ours says, once it is verified.
public struct AccessClaims: Sendable, Hashable {
    /// The account.
    public let userID: UserID
    /// The session.
    public let sessionID: SessionID
    /// The number of the refresh token that it was issued with; nil in tokens from before they told.
    public let number: UInt32?
    /// When the token expires, in Unix seconds.
    public let expiresAtSeconds: Int64
    /// What the OAuth client was granted that it was issued to; nil for other apps.
    public let scope: String?
    /// For whom it is.
    public let audience: String
    /// Whether the session is a guest's.
    public let isGuest: Bool
    /// The key that the token is bound to (`cnf.jkt`, RFC 9449 section 6.1); nil for a bearer token.
    public let key: JWKThumbprint?

    /// Claims of a token.
    public init(
        userID: UserID,
        sessionID: SessionID,
        number: UInt32?,
        expiresAtSeconds: Int64,
        scope: String? = nil,
        audience: String,
        isGuest: Bool = false,
        key: JWKThumbprint? = nil
    ) {
        self.audience = audience
        self.isGuest = isGuest
        self.key = key
        self.userID = userID
        self.sessionID = sessionID
        self.number = number
        self.expiresAtSeconds = expiresAtSeconds
        self.scope = scope
    }
}
