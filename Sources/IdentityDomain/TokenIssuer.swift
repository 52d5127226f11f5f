import JOSE
import Models

/// Makes and verifies the tokens that we sign. Immutable; any thread.
public struct TokenIssuer: Sendable {
    /// The longest access token that we look at, in bytes; ours have about 600.
    public static let accessTokenBytesMax = 4096
    /// How long a logout token is valid, in seconds (OpenID Connect Back-Channel Logout 1.0 section 2.4: preferably two minutes at most).
    static let logoutTokenSeconds: Int64 = 120
    /// The `typ` of access tokens (RFC 9068 section 2.1).
    static let accessTokenType = "at+jwt"

    /// `iss` of all our tokens.
    public let issuer: String
    /// `aud` of our access tokens.
    public let audience: String
    /// For how long access and ID tokens are valid, unless their app has a lifetime of its own.
    public let lifetimeSeconds: Int64
    /// The public keys that verify our tokens.
    public let keySet: KeySet
    /// Whether access tokens also say of a user that it is no guest.
    public let tellsGuestsApart: Bool
    private let signingKey: SigningKey
    /// Signs ID tokens of clients that want RS256; nil without such a key.
    private let rsaKey: SigningKey?
    private let accessTokenMAC: MACClaim
    private let accessTokens: MACTokens
    private let payloads: AccessTokenPayloads
    private let accessTokenHeader: String
    private let idTokenHeader: String
    private let rsaIDTokenHeader: String?

    /// An issuer that signs with `signingKey`, and ID tokens for some clients with `rsaKey`; tokens of `otherKeys`, retired or to come,
    /// verify as well, by their thumbprints. Where there are guests, `tellsGuestsApart` has the access tokens of users say that they are none: rules
    /// written for Supabase's tokens refuse a user whose token doesn't (`is_anonymous` must be false there, and not absent). To verify, their public halves are enough. By a key that is derived from the first of `refreshKeys` it
    /// knows its access tokens again.
    public init(
        issuer: String,
        audience: String,
        lifetimeSeconds: Int64,
        signingKey: SigningKey,
        rsaKey: SigningKey? = nil,
        otherKeys: [VerificationKey] = [],
        refreshKeys: RefreshKeys,
        tellsGuestsApart: Bool = false
    ) {
        self.issuer = issuer
        self.tellsGuestsApart = tellsGuestsApart
        self.audience = audience
        self.lifetimeSeconds = lifetimeSeconds
        self.signingKey = signingKey
        let signsRS256 = rsaKey ?? (signingKey.algorithm == .rs256 ? signingKey : nil)
        self.rsaKey = signsRS256
        rsaIDTokenHeader = signsRS256?.encodedHeader(type: "JWT")
        accessTokenHeader = signingKey.encodedHeader(type: Self.accessTokenType)
        idTokenHeader = signingKey.encodedHeader(type: "JWT")
        keySet = KeySet([signingKey] + (rsaKey.map { [$0] } ?? []), others: otherKeys)
        accessTokenMAC = refreshKeys.accessTokenMAC
        accessTokens = MACTokens(
            type: Self.accessTokenType,
            signedBy: keySet,
            claim: accessTokenMAC,
            bytesMax: Self.accessTokenBytesMax
        )
        payloads = AccessTokenPayloads(issuer: issuer, audience: audience)
    }

    /// Whether it can sign ID tokens by RS256.
    public var signsRS256: Bool { rsaKey != nil }

    /// An access token for a session (RFC 9068 section 2.2), with the session in `sid`, how it was proven in `acr`, and
    /// the key that it is bound to in `cnf` (RFC 9449 section 6.1). Its last claim, `mac`,
    /// is for ``verifiedAccessClaims(_:)`` alone.
    ///
    /// - Parameters:
    ///   - number: that of the refresh token beside it, in `num`.
    ///   - tokenID: `jti`, unique.
    ///   - scope: what an OAuth client was granted (RFC 9068 section 2.2.3); nil for other apps.
    ///   - resource: `aud` of a token that isn't for us (RFC 8707).
    ///   - lifetimeSeconds: how long it is valid, if not ``lifetimeSeconds``.
    public func accessToken(
        for session: SessionFacts,
        number: UInt32,
        tokenID: String,
        scope: String? = nil,
        resource: String? = nil,
        nowSeconds: Int64,
        lifetimeSeconds: Int64? = nil
    ) throws(KeyError) -> String {
        var claims: JSONObject = [
            "iss": .string(issuer),
            "sub": .string(session.userID.description),
            "aud": .string(resource ?? audience),
            "client_id": .string(session.clientID),
            "iat": .integer(nowSeconds),
            "exp": .integer(nowSeconds + (lifetimeSeconds ?? self.lifetimeSeconds)),
            "jti": .string(tokenID),
            "sid": .string(session.sessionID.description),
            "num": .integer(Int64(number)),
            "auth_time": .integer(session.signedInAtSeconds),
            "acr": .string(AuthenticationContext(session.proof).rawValue),
        ]
        if let scope { claims["scope"] = .string(scope) }
        if let key = session.key { claims["cnf"] = .object(["jkt": .string(key.text)]) }
        if session.isGuest {
            // For backends that know Supabase's tokens; the standard's name is acr.
            claims["is_anonymous"] = .bool(true)
        } else if tellsGuestsApart {
            claims["is_anonymous"] = .bool(false)
        }
        return try signingKey.signedToken(
            claims: claims,
            encodedHeader: accessTokenHeader,
            mac: accessTokenMAC
        )
    }

    /// An ID token of ours for the app (OpenID Connect Core sections 2 and 5.1): who signed in, when, through whom, and what
    /// is known of them. An e-mail that only the app told is not verified.
    ///
    /// - Parameters:
    ///   - name: the user's name; nil if none is known.
    ///   - email: the e-mail; nil if none is known.
    ///   - nonce: that of an authorization request (OpenID Connect Core section 3.1.3.7); nil without.
    ///   - algorithm: RS256 for the key of such tokens; any other means the one of access tokens.
    ///   - lifetimeSeconds: how long it is valid, if not ``lifetimeSeconds``.
    public func idToken(
        for session: SessionFacts,
        name: String? = nil,
        email: EmailFacts? = nil,
        nonce: String? = nil,
        algorithm: SignatureAlgorithm = .es256,
        nowSeconds: Int64,
        lifetimeSeconds: Int64? = nil
    ) throws(KeyError) -> String {
        var claims: JSONObject = [
            "iss": .string(issuer),
            "sub": .string(session.userID.description),
            "aud": .string(session.clientID),
            "iat": .integer(nowSeconds),
            "exp": .integer(nowSeconds + (lifetimeSeconds ?? self.lifetimeSeconds)),
            "auth_time": .integer(session.signedInAtSeconds),
            "acr": .string(AuthenticationContext(session.proof).rawValue),
            "sid": .string(session.sessionID.description),
            "idp": .string(session.provider.value),
        ]
        if let nonce { claims["nonce"] = .string(nonce) }
        if let name { claims["name"] = .string(name) }
        if let email {
            claims["email"] = .string(email.address)
            claims["email_verified"] = .bool(email.isVerified)
            claims["is_private_email"] = .bool(email.isPrivate)
        }
        return try signed(claims, algorithm)
    }

    private func signed(_ claims: JSONObject, _ algorithm: SignatureAlgorithm) throws(KeyError) -> String {
        guard algorithm == .rs256 else {
            return try signingKey.signedToken(claims: claims, encodedHeader: idTokenHeader)
        }
        guard let rsaKey, let rsaIDTokenHeader else { throw .unsupported }
        return try rsaKey.signedToken(claims: claims, encodedHeader: rsaIDTokenHeader)
    }

    /// A logout token, which notifies a client that a session has ended (OpenID Connect Back-Channel Logout 1.0 section 2.4).
    ///
    /// - Parameters:
    ///   - tokenID: `jti`, unique: after a lost response the client gets another token.
    ///   - algorithm: as that of the client's ID tokens (section 2.6).
    public func logoutToken(
        clientID: String,
        userID: UserID,
        sessionID: SessionID,
        tokenID: String,
        algorithm: SignatureAlgorithm,
        nowSeconds: Int64
    ) throws(KeyError) -> String {
        let claims: JSONObject = [
            "iss": .string(issuer),
            "sub": .string(userID.description),
            "aud": .string(clientID),
            "iat": .integer(nowSeconds),
            "exp": .integer(nowSeconds + Self.logoutTokenSeconds),
            "jti": .string(tokenID),
            "events": .object(["http://schemas.openid.net/event/backchannel-logout": .object([:])]),
            "sid": .string(sessionID.description),
        ]
        let key = algorithm == .rs256 ? rsaKey : signingKey
        guard let key else { throw .unsupported }
        return try key.signedToken(claims: claims, encodedHeader: key.encodedHeader(type: "logout+jwt"))
    }

    /// The session that an ID token of ours names, whether or not it has expired: what a client hints at when it signs a user out
    /// (OpenID Connect RP-Initiated Logout 1.0 section 2). Nil for anything else.
    public func hintedSession(_ text: String) -> HintedSession? {
        guard let jws = try? CompactJWS(parsing: text, bytesMax: Self.accessTokenBytesMax), jws.type == "JWT",
            let keyID = jws.keyID, let key = keySet.key(id: keyID, algorithm: jws.algorithm),
            let payload = try? jws.verifiedPayload(with: key), let claims = try? JSONObject(parsing: payload),
            claims["iss"] == .string(issuer), let clientID = claims["aud"]?.string,
            let userID = claims["sub"]?.string.flatMap({ UserID($0) })
        else { return nil }
        return HintedSession(userID: userID, clientID: clientID)
    }

    /// The claims of an access token that we signed, whether or not it has expired.
    ///
    /// A token whose last claim the current key made is ours in every byte of header and payload, and its signature is not checked:
    /// the signature is for verifiers without the key. With another key's claim, or none, the signature decides. The key that the header
    /// names must be in ``keySet`` in either case.
    ///
    /// - Throws: `accessTokenInvalid` for everything else, an ID token of ours included (`typ` differs).
    public func verifiedAccessClaims(
        _ text: String,
        audience: TokenAudience = .ours
    ) throws(IdentityError) -> AccessClaims {
        if audience == .ours, let claims = accessTokens.withPayload(of: text, payloads.claims) { return claims }
        guard let jws = try? CompactJWS(parsing: text, bytesMax: Self.accessTokenBytesMax),
            jws.type == Self.accessTokenType, let keyID = jws.keyID,
            let key = keySet.key(id: keyID, algorithm: jws.algorithm),
            let payload = try? jws.verifiedPayload(with: key),
            let claims = payload.withUnsafeBufferPointer({
                audience == .ours ? payloads.claims($0) : payloads.parsedClaims($0, isForAnyone: true)
            })
        else { throw .accessTokenInvalid }
        return claims
    }
}

extension AccessClaims {
    /// Throws `accessTokenExpired` at and after the token's end. There is no leeway: the clock that made it is ours.
    public func checkLifetime(nowSeconds: Int64) throws(IdentityError) {
        guard nowSeconds < expiresAtSeconds else { throw .accessTokenExpired }
    }
}

/// For whom an access token may be.
public enum TokenAudience: Sendable, Hashable {
    /// For our API.
    case ours
    /// Also for another API, where nobody is let in by it but asked about it.
    case any
}

/// Whom an ID token of ours is about, and the client that it was issued to.
public struct HintedSession: Sendable, Hashable {
    /// The user.
    public let userID: UserID
    /// The client.
    public let clientID: String
}
