import JOSE

@testable import DPoP

/// What most tests use: a key, a request, and a moment.
enum Example {
    static let key: SigningKey = {
        guard let key = try? SigningKey.generateP256() else { preconditionFailure("no key") }
        return key
    }()
    static let address = "https://api.example.org"
    static let token = "eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl"
    static let now = DPoPInstant(unixSeconds: 1_795_910_400, monotonicSeconds: 86_400)
    static let nonces = DPoPNonces()
    /// By `iat` or by a nonce.
    static let verifier = DPoPVerifier(nonces: nonces, requiresNonce: false)
    static let strictVerifier = DPoPVerifier(nonces: nonces, requiresNonce: true)
    static let request = DPoPVerifier.Request(method: "POST", target: TargetURI(address)?.appending("/v1/me"))

    static let header: JSONObject = [
        "typ": "dpop+jwt", "alg": "ES256", "jwk": .object(key.verificationKey.requiredJWKMembers),
    ]
    static let claims: JSONObject = [
        "jti": "-BwC3ESc6acc2lTc", "htm": "POST", "htu": .string(address + "/v1/me"), "iat": .integer(now.unixSeconds),
    ]

    /// A proof with these members in place of the usual ones, or without those that are nil.
    static func proof(header: [String: JSONValue?] = [:], claims: [String: JSONValue?] = [:]) throws -> String {
        try signed(
            headerText: changed(Self.header, header).serialized(),
            claimsText: changed(Self.claims, claims).serialized()
        )
    }

    /// A signed proof of these texts.
    static func signed(
        headerText: [UInt8] = header.serialized(),
        claimsText: [UInt8] = claims.serialized()
    ) throws -> String {
        let input = Base64URL.encode(headerText) + "." + Base64URL.encode(claimsText)
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8)))
    }

    /// A proof as the verifier makes it, for what goes by the key and the `jti` alone.
    static func verified(_ identifier: String, key: UInt8 = 0) -> DPoPProof {
        let text = Base64URL.encode([UInt8](repeating: key, count: JWKThumbprint.byteCount))
        guard let thumbprint = JWKThumbprint(text) else { preconditionFailure("no thumbprint") }
        return DPoPProof(thumbprint: thumbprint, identifier: identifier, hasNonce: true)
    }

    private static func changed(_ object: JSONObject, _ changes: [String: JSONValue?]) -> JSONObject {
        var object = object
        for (name, value) in changes { object[name] = value }
        return object
    }
}
