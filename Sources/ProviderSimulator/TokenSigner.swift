import JOSE

/// Signs claims as the provider would, or as an attacker would.
enum TokenSigner {
    /// A compact JWS.
    ///
    /// - Parameters:
    ///   - foreign: a key that is not published.
    ///   - type: the header's `typ`; Google's is JWT, Apple has none.
    static func sign(
        _ claims: JSONObject,
        signature: TokenOverrides.Signature,
        key: SigningKey,
        foreign: SigningKey,
        type: String?
    ) throws(KeyError) -> String {
        switch signature {
        case .published:
            return try key.signedToken(claims: claims, type: type)
        case .foreign:
            return try foreign.signedToken(claims: claims, type: type, extraHeader: ["kid": .string(key.keyID)])
        case .unknown:
            return try foreign.signedToken(claims: claims, type: type)
        case .none:
            return input(claims, algorithm: "none", keyID: key.keyID) + "."
        case .hs256:
            let input = input(claims, algorithm: "HS256", keyID: key.keyID)
            let secret = key.publicJWK["n"]?.string.flatMap { Base64URL.decode($0) } ?? []
            let code = SHA256.authenticationCode(of: Array(input.utf8), key: secret)
            return input + "." + Base64URL.encode(code)
        }
    }

    private static func input(_ claims: JSONObject, algorithm: String, keyID: String) -> String {
        let header: JSONObject = ["alg": .string(algorithm), "kid": .string(keyID)]
        return Base64URL.encode(header.serialized()) + "." + Base64URL.encode(claims.serialized())
    }
}
