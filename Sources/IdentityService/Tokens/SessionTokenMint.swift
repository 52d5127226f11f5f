import API
import IdentityDomain
import JOSE
import Models

/// Makes what an app keeps of a session.
struct SessionTokenMint: Sendable {
    let issuer: TokenIssuer
    let refreshKeys: RefreshKeys
    let clock: WallClock
    /// That many random bytes, fit for keys.
    let randomBytes: @Sendable (Int) -> [UInt8]

    /// The tokens of the session's current generation.
    func tokens(of session: StoredSession) throws(KeyError) -> IdentityV1.SessionTokens {
        let now = clock.nowSeconds
        let refreshToken = RefreshToken(
            sessionID: session.facts.sessionID,
            generation: session.generation,
            nonce: session.nonce
        )
        var tokens = IdentityV1.SessionTokens()
        tokens.accessToken = try issuer.accessToken(
            for: session.facts,
            tokenID: Base64URL.encode(randomBytes(16)),
            nowSeconds: now
        )
        tokens.refreshToken = refreshKeys.mint(refreshToken)
        tokens.idToken = try issuer.idToken(for: session.facts, nowSeconds: now)
        tokens.expiresInSeconds = issuer.lifetimeSeconds
        tokens.userID = session.facts.userID.description
        tokens.sessionID = session.facts.sessionID.description
        return tokens
    }
}
