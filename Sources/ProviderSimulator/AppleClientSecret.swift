import JOSE

/// Checks the JWT by which an app authenticates itself to Apple's token and revocation endpoints.
///
/// Header `alg` ES256 and `kid`; claims `iss` the team, `sub` the client, `aud` Apple's issuer, `exp` at most 15,777,000
/// seconds ahead ("Creating a client secret" of Apple's documentation).
enum AppleClientSecret {
    /// How far ahead `exp` may be, in seconds: six months.
    static let lifetimeSecondsMax: Int64 = 15_777_000
    /// How far `iat` may be ahead of our clock, in seconds.
    static let leewaySeconds: Int64 = 60

    /// Checks a secret; for an unregistered client everything but the signature and the team.
    ///
    /// - Returns: the team of the secret.
    /// - Throws: `invalid_client` for any error, as Apple does.
    static func check(
        _ secret: String,
        clientID: String,
        registered: [RegisteredClient],
        nowSeconds: Int64
    ) throws(OAuthError) -> String {
        guard let jws = try? CompactJWS(parsing: secret), jws.algorithm == .es256, let keyID = jws.keyID else {
            throw .invalidClient
        }
        var claims = unverifiedClaims(secret)
        var teamID: String?
        if !registered.isEmpty {
            guard let (team, key) = self.key(keyID, registered), let payload = try? jws.verifiedPayload(with: key)
            else {
                throw .invalidClient
            }
            claims = try? JSONObject(parsing: payload)
            teamID = team
        }
        guard let claims, let issuer = claims["iss"]?.string, !issuer.isEmpty, issuer == teamID ?? issuer,
            claims["sub"]?.string == clientID, claims["aud"]?.string == Provider.apple.issuer,
            let expires = claims["exp"]?.numericDateSeconds, let issued = claims["iat"]?.numericDateSeconds,
            nowSeconds < expires, expires - nowSeconds <= lifetimeSecondsMax, issued <= nowSeconds + leewaySeconds
        else { throw .invalidClient }
        return issuer
    }

    private static func key(_ keyID: String, _ registered: [RegisteredClient]) -> (String, VerificationKey)? {
        for client in registered {
            if case .key(let team, keyID, let key) = client.credential { return (team, key) }
        }
        return nil
    }

    private static func unverifiedClaims(_ token: String) -> JSONObject? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        return Base64URL.decode(parts[1]).flatMap { try? JSONObject(parsing: $0) }
    }
}
