import IdentityDomain
import JOSE

/// A provider with keys of its own that makes whatever token a test asks for.
struct TestProvider {
    static let nowSeconds: Int64 = 1_800_000_000
    static let rawNonce = "raw-nonce"
    static let code = "authorization-code"

    let key: SigningKey
    var policy: ProviderPolicy

    static func apple() throws -> TestProvider {
        try TestProvider(
            key: .generateP256(),
            policy: policy(["com.example.app", "com.example.web"].map { AudiencePolicy(id: $0, match: .sha256) })
        )
    }

    /// Apple with these apps.
    static func policy(_ audiences: [AudiencePolicy]) throws -> ProviderPolicy {
        try ProviderPolicy(
            name: .apple,
            issuers: ["https://appleid.apple.com"],
            audiences: audiences,
            algorithms: [.es256],
            keysURL: "http://127.0.0.1:7080/apple/auth/keys"
        )
    }

    /// The claims of a good token, then the given changes; nil removes a claim.
    func claims(_ changes: [String: JSONValue?] = [:]) -> JSONObject {
        var claims: JSONObject = [
            "iss": "https://appleid.apple.com",
            "aud": "com.example.app",
            "sub": "001234.abcdef.0123",
            "iat": .integer(Self.nowSeconds - 10),
            "exp": .integer(Self.nowSeconds + 86_000),
            "nonce": .string(Hex.encode(SHA256.hash(Self.rawNonce))),
            "nonce_supported": true,
            "email": "person@example.com",
            "email_verified": "true",
            "is_private_email": true,
            "c_hash": .string(SignatureAlgorithm.es256.halfHash(of: Self.code)),
        ]
        for (name, value) in changes {
            claims[name] = value
        }
        return claims
    }

    func judge(
        _ changes: [String: JSONValue?] = [:],
        nowSeconds: Int64 = nowSeconds,
        nonce: String? = rawNonce,
        code: String = code
    ) throws(TokenRejection) -> ProviderClaims {
        try policy.judge(
            payload: claims(changes).serialized(),
            algorithm: .es256,
            nowSeconds: nowSeconds,
            nonce: nonce,
            code: code
        )
    }
}
