import JOSE

/// The client secret of Apple's token endpoint: a JWT that the developer team signs, ES256 ("Creating a client secret" in
/// Apple's documentation of Sign in with Apple).
public enum AppleClientSecret {
    /// Whom it is for: Apple's issuer, wherever its endpoint may be in development.
    public static let audience = "https://appleid.apple.com"
    /// How long one lives. Apple allows half a year; one that is minted for each call needs minutes, and is useless
    /// to a thief who finds it later.
    public static let lifetimeSeconds: Int64 = 300

    /// A secret for one call.
    ///
    /// - Parameters:
    ///   - clientID: the app: a bundle id or a Services ID.
    ///   - teamID: the developer team that the app belongs to.
    ///   - keyID: the name that Apple gave the key.
    ///   - key: the team's private key, P-256.
    ///   - nowSeconds: the time, in Unix seconds.
    /// - Throws: `KeyError.unsupported` for a key of another kind, or what libcrypto reports.
    public static func mint(
        clientID: String,
        teamID: String,
        keyID: String,
        key: SigningKey,
        nowSeconds: Int64
    ) throws(KeyError) -> String {
        guard key.algorithm == .es256 else { throw .unsupported }
        let claims: JSONObject = [
            "iss": .string(teamID), "sub": .string(clientID), "aud": .string(audience), "iat": .integer(nowSeconds),
            "exp": .integer(nowSeconds + lifetimeSeconds),
        ]
        return try key.signedToken(claims: claims, extraHeader: ["kid": .string(keyID)])
    }
}
