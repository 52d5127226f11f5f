import API
import IdentityDomain
import JOSE
import KeyRings
import Models

/// Makes what an app keeps of a session.
struct SessionTokenMint: Sendable {
    let issuer: TokenIssuer
    let refreshKeys: RefreshKeys
    let singleTokens: SingleTokens
    /// Makes what browsers keep of a session of our own pages.
    let browserTokens: SingleTokens
    /// What apps get that don't get what others do, by provider and audience.
    let audienceTokens: [ProviderName: [String: AudienceTokens]]
    let clock: WallClock
    /// That many random bytes, fit for keys.
    let randomBytes: @Sendable (Int) -> [UInt8]

    /// The tokens of the session's number; of a single style there is one.
    func tokens(
        of session: StoredSession,
        style: IdentityV1.TokenStyle = .unspecified
    ) throws(KeyError) -> IdentityV1.SessionTokens {
        var tokens =
            if style == .browser {
                singleToken(
                    userID: session.facts.userID,
                    sessionID: session.facts.sessionID,
                    nonce: session.nonce,
                    style: .renewed,
                    sessionEndsAtSeconds: session.endsAtSeconds,
                    by: browserTokens
                )
            } else if let style = SingleTokenStyle(style) {
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
        sessionEndsAtSeconds: Int64,
        by kind: SingleTokens? = nil
    ) -> IdentityV1.SessionTokens {
        let now = clock.nowSeconds
        let token = (kind ?? singleTokens).mint(
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

    /// The tokens of an OAuth client's session: what its scopes grant.
    ///
    /// - Parameter nonce: that of the authorization request.
    func clientTokens(
        of session: StoredSession,
        scopes: Set<OAuthScope>,
        client: OAuthClient,
        nonce: String?
    ) throws(KeyError) -> IdentityV1.SessionTokens {
        let now = clock.nowSeconds
        let lifetimeSeconds = min(client.accessTokenSeconds ?? issuer.lifetimeSeconds, Self.accessTokenSecondsMax)
        var tokens = IdentityV1.SessionTokens()
        tokens.accessToken = try issuer.accessToken(
            for: session.facts,
            number: session.number,
            tokenID: Base64URL.encode(randomBytes(16)),
            scope: scopes.text,
            resource: session.resource,
            nowSeconds: now,
            lifetimeSeconds: lifetimeSeconds
        )
        if scopes.contains(.offlineAccess) {
            tokens.refreshToken = refreshKeys.mint(
                RefreshToken(sessionID: session.facts.sessionID, number: session.number, nonce: session.nonce)
            )
        }
        if scopes.contains(.openid) {
            tokens.idToken = try issuer.idToken(
                for: session.facts,
                name: scopes.contains(.profile) ? session.toldName : nil,
                email: scopes.contains(.email) ? session.email : nil,
                nonce: nonce,
                algorithm: client.idTokenAlgorithm,
                nowSeconds: now,
                lifetimeSeconds: lifetimeSeconds
            )
        }
        tokens.expiresInSeconds = lifetimeSeconds
        tokens.isBoundToKey = session.facts.key != nil
        return tokens
    }

    private func rotatingTokens(of session: StoredSession) throws(KeyError) -> IdentityV1.SessionTokens {
        let now = clock.nowSeconds
        let refreshToken = RefreshToken(
            sessionID: session.facts.sessionID,
            number: session.number,
            nonce: session.nonce
        )
        var tokens = IdentityV1.SessionTokens()
        let own = audienceTokens[session.facts.provider]?[session.facts.clientID]
        let lifetimeSeconds = own?.lifetimeSeconds ?? issuer.lifetimeSeconds
        tokens.accessToken = try issuer.accessToken(
            for: session.facts,
            number: session.number,
            tokenID: Base64URL.encode(randomBytes(16)),
            nowSeconds: now,
            lifetimeSeconds: lifetimeSeconds
        )
        tokens.refreshToken = refreshKeys.mint(refreshToken)
        // An ID token says who has signed in, and to which app.
        if own?.hasIDToken ?? !session.facts.isGuest {
            tokens.idToken = try issuer.idToken(
                for: session.facts,
                name: session.toldName,
                email: session.email,
                nowSeconds: now,
                lifetimeSeconds: lifetimeSeconds
            )
        }
        tokens.expiresInSeconds = lifetimeSeconds
        tokens.isBoundToKey = session.facts.key != nil
        tokens.userID = session.facts.userID.description
        tokens.sessionID = session.facts.sessionID.description
        return tokens
    }
}

extension SessionTokenMint {
    /// The longest that an access token may live.
    static let accessTokenSecondsMax = KeyKind.accessTokenSecondsMax

    /// What providers' audiences get that isn't what others get; providers without any such are not in it.
    static func audienceTokens(
        _ providers: some Sequence<ProviderConfiguration>
    ) -> [ProviderName: [String: AudienceTokens]] {
        var tokens: [ProviderName: [String: AudienceTokens]] = [:]
        for provider in providers {
            let own = provider.policy.audiences.compactMapValues { AudienceTokens($0) }
            if !own.isEmpty { tokens[provider.policy.name] = own }
        }
        return tokens
    }
}

/// The tokens of one app's sessions where they are not those of every app's.
struct AudienceTokens: Sendable, Hashable {
    /// How long access and ID tokens live, in seconds; nil is the deployment's default.
    let lifetimeSeconds: Int64?
    /// Whether there is an ID token.
    let hasIDToken: Bool
}

extension AudienceTokens {
    /// Those of an audience; nil if they are as everywhere.
    fileprivate init?(_ audience: AudiencePolicy) {
        if audience.accessTokenSeconds == nil, audience.hasIDToken { return nil }
        self.init(
            lifetimeSeconds: audience.accessTokenSeconds.map { min($0, SessionTokenMint.accessTokenSecondsMax) },
            hasIDToken: audience.hasIDToken
        )
    }
}

extension SingleTokenStyle {
    /// The style that a request asks for; nil for access and refresh tokens.
    init?(_ style: IdentityV1.TokenStyle) {
        switch style {
        case .single: self = .renewed
        case .singleForSession: self = .forSession
        case .unspecified, .browser, .UNRECOGNIZED: return nil
        }
    }
}
