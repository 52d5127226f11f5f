import API
import IdentityDomain
import JOSE
import Models

/// Makes what an app keeps of a session.
struct SessionTokenMint: Sendable {
    let issuer: TokenIssuer
    let refreshKeys: RefreshKeys
    let singleTokens: SingleTokens
    /// How long access tokens of apps live that have a lifetime of their own, in seconds, by provider and audience.
    let lifetimes: [ProviderName: [String: Int64]]
    let clock: WallClock
    /// That many random bytes, fit for keys.
    let randomBytes: @Sendable (Int) -> [UInt8]

    /// The tokens of the session's current generation; of a single style there is one.
    func tokens(
        of session: StoredSession,
        style: IdentityV1.TokenStyle = .unspecified
    ) throws(KeyError) -> IdentityV1.SessionTokens {
        var tokens =
            if let style = SingleTokenStyle(style) {
                singleToken(
                    userID: session.facts.userID,
                    sessionID: session.facts.sessionID,
                    nonce: session.nonce,
                    style: style,
                    sessionEndsAtSeconds: session.endsAtSeconds
                )
            } else {
                try rotatingTokens(of: session)
            }
        tokens.accountNumber = session.accountNumber ?? 0
        return tokens
    }

    /// The single token of a session, and nothing else.
    func singleToken(
        userID: UserID,
        sessionID: SessionID,
        nonce: [UInt8],
        style: SingleTokenStyle,
        sessionEndsAtSeconds: Int64
    ) -> IdentityV1.SessionTokens {
        let now = clock.nowSeconds
        let token = singleTokens.mint(
            userID: userID,
            sessionID: sessionID,
            nonce: nonce,
            style: style,
            sessionEndsAtSeconds: sessionEndsAtSeconds,
            nowSeconds: now
        )
        var tokens = IdentityV1.SessionTokens()
        tokens.singleToken = token.text
        tokens.expiresInSeconds = max(token.expiresAtSeconds - now, 0)
        tokens.userID = userID.description
        tokens.sessionID = sessionID.description
        return tokens
    }

    private func rotatingTokens(of session: StoredSession) throws(KeyError) -> IdentityV1.SessionTokens {
        let now = clock.nowSeconds
        let refreshToken = RefreshToken(
            sessionID: session.facts.sessionID,
            generation: session.generation,
            nonce: session.nonce
        )
        var tokens = IdentityV1.SessionTokens()
        let lifetimeSeconds = lifetimes[session.facts.provider]?[session.facts.clientID] ?? issuer.lifetimeSeconds
        tokens.accessToken = try issuer.accessToken(
            for: session.facts,
            tokenID: Base64URL.encode(randomBytes(16)),
            nowSeconds: now,
            lifetimeSeconds: lifetimeSeconds
        )
        tokens.refreshToken = refreshKeys.mint(refreshToken)
        tokens.idToken = try issuer.idToken(
            for: session.facts,
            name: session.toldName,
            email: session.email,
            nowSeconds: now,
            lifetimeSeconds: lifetimeSeconds
        )
        tokens.expiresInSeconds = lifetimeSeconds
        tokens.userID = session.facts.userID.description
        tokens.sessionID = session.facts.sessionID.description
        return tokens
    }
}

extension SessionTokenMint {
    /// The longest that an access token may live.
    static let accessTokenSecondsMax: Int64 = 3_600

    /// The lifetimes that providers' audiences have of their own; providers without any are not in it.
    static func lifetimes(_ providers: some Sequence<ProviderConfiguration>) -> [ProviderName: [String: Int64]] {
        var lifetimes: [ProviderName: [String: Int64]] = [:]
        for provider in providers {
            let own = provider.policy.audiences.compactMapValues { audience in
                audience.accessTokenSeconds.map { min($0, accessTokenSecondsMax) }
            }
            if !own.isEmpty { lifetimes[provider.policy.name] = own }
        }
        return lifetimes
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
