import API
import IdentityDomain
import JOSE
import Models

/// Makes what an app keeps of a session.
struct SessionTokenMint: Sendable {
    let issuer: TokenIssuer
    let refreshKeys: RefreshKeys
    let singleTokens: SingleTokens
    let clock: WallClock
    /// That many random bytes, fit for keys.
    let randomBytes: @Sendable (Int) -> [UInt8]

    /// The tokens of the session's current generation; of a single style there is one.
    func tokens(
        of session: StoredSession,
        style: IdentityV1.TokenStyle = .unspecified
    ) throws(KeyError) -> IdentityV1.SessionTokens {
        let now = clock.nowSeconds
        var tokens = IdentityV1.SessionTokens()
        if let style = SingleTokenStyle(style) {
            let token = singleTokens.mint(
                userID: session.facts.userID,
                sessionID: session.facts.sessionID,
                nonce: session.nonce,
                style: style,
                sessionEndsAtSeconds: session.endsAtSeconds,
                nowSeconds: now
            )
            tokens.singleToken = token.text
            tokens.expiresInSeconds = max(token.expiresAtSeconds - now, 0)
        } else {
            let refreshToken = RefreshToken(
                sessionID: session.facts.sessionID,
                generation: session.generation,
                nonce: session.nonce
            )
            tokens.accessToken = try issuer.accessToken(
                for: session.facts,
                tokenID: Base64URL.encode(randomBytes(16)),
                nowSeconds: now
            )
            tokens.refreshToken = refreshKeys.mint(refreshToken)
            tokens.idToken = try issuer.idToken(for: session.facts, nowSeconds: now)
            tokens.expiresInSeconds = issuer.lifetimeSeconds
        }
        tokens.userID = session.facts.userID.description
        tokens.sessionID = session.facts.sessionID.description
        tokens.accountNumber = session.accountNumber ?? 0
        return tokens
    }
}

extension SingleTokenStyle {
    /// The style that a request asks for; nil for access and refresh tokens.
    init?(_ style: IdentityV1.TokenStyle) {
        switch style {
        case .single: self = .renewed
        case .singleForSession: self = .forSession
        case .unspecified, .UNRECOGNIZED: return nil
        }
    }
}
