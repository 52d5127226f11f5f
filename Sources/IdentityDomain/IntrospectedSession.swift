import JOSE
import Models

/// What a session's row says when somebody asks about a token of it.
public struct IntrospectedSession: Sendable, Hashable {
    /// What it says when a single token is presented.
    public let state: SingleSessionState
    /// The app that it was opened by.
    public let clientID: String
    /// Which tokens of it were received.
    public let received: ReceivedNumbers
    /// What the OAuth client was granted that it was opened for; nil for other apps.
    public let scope: String?

    /// When the user signed in, in Unix seconds.
    public let signedInAtSeconds: Int64
    /// The key that its tokens are bound to (RFC 9449); nil for bearer tokens.
    public let key: JWKThumbprint?

    /// What a row says.
    public init(
        state: SingleSessionState,
        clientID: String,
        received: ReceivedNumbers,
        scope: String? = nil,
        signedInAtSeconds: Int64,
        key: JWKThumbprint? = nil
    ) {
        self.key = key
        self.signedInAtSeconds = signedInAtSeconds
        self.state = state
        self.clientID = clientID
        self.received = received
        self.scope = scope
    }

    /// Whether an access token would be taken now, outside of every dialect.
    public func takes(_ claims: AccessClaims, nowMilliseconds: Int64) -> Bool {
        let isAlive: Void? = try? state.session.checkAlive(for: claims.userID, nowMilliseconds: nowMilliseconds)
        return isAlive != nil && isProvenEverywhere && nowMilliseconds / 1000 < claims.expiresAtSeconds
    }

    /// Whether a single token would be taken now, outside of every dialect.
    public func takes(_ claims: SingleClaims, limits: SessionLimits, nowMilliseconds: Int64) -> Bool {
        let isAlive: Void? = try? state.checkAlive(for: claims, limits: limits, nowMilliseconds: nowMilliseconds)
        return isAlive != nil && isProvenEverywhere && nowMilliseconds / 1000 < claims.expiresAtSeconds
    }

    /// When a refresh token that would be exchanged now ends without a refresh, in Unix seconds; nil if it wouldn't be.
    ///
    /// One that was replaced gets its successor again for some seconds; here it counts as over, since its owner has another one.
    public func end(of token: RefreshToken, limits: SessionLimits, nowMilliseconds: Int64) -> Int64? {
        let session = state.session
        let number = Int64(token.number)
        let end = min(session.endsAtMilliseconds, state.lastUsedAtMilliseconds + limits.inactivitySeconds * 1000)
        guard state.nonce == token.nonce, !session.isEnded, isProvenEverywhere, nowMilliseconds < end,
            number == received.base || number >= received.firstChild
        else { return nil }
        return end / 1000
    }

    private var isProvenEverywhere: Bool { (try? state.session.checkProof(in: "")) != nil }
}
