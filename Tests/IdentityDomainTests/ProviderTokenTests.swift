import IdentityDomain
import JOSE
import Testing

struct ProviderTokenTests {
    private func claims(of text: String, _ provider: TestProvider, key: SigningKey? = nil) throws -> ProviderClaims {
        let token = try ProviderToken(parsing: text, policy: provider.policy)
        #expect(token.keyID == provider.key.keyID)
        return try token.claims(
            verifiedWith: (key ?? provider.key).verificationKey,
            policy: provider.policy,
            nowSeconds: TestProvider.nowSeconds,
            nonce: TestProvider.rawNonce,
            code: TestProvider.code
        )
    }

    @Test func `A signed text becomes claims`() throws {
        let provider = try TestProvider.apple()
        let text = try provider.key.signedToken(claims: provider.claims())
        #expect(try claims(of: text, provider).subject == "001234.abcdef.0123")
        let typed = try provider.key.signedToken(claims: provider.claims(), type: "JWT")
        #expect(try claims(of: typed, provider).subject == "001234.abcdef.0123")
    }

    @Test func `Another key is refused`() throws {
        let provider = try TestProvider.apple()
        let other = try SigningKey.generateP256(keyID: provider.key.keyID)
        let text = try other.signedToken(claims: provider.claims())
        #expect(throws: TokenRejection.signature) { try claims(of: text, provider) }
    }

    @Test func `Headers are judged before a key is looked up`() throws {
        let provider = try TestProvider.apple()
        let payload = Base64URL.encode(provider.claims().serialized())
        func token(_ header: JSONObject, signature: String = "AAAA") -> String {
            Base64URL.encode(header.serialized()) + "." + payload + "." + signature
        }
        let cases: [(String, TokenRejection)] = [
            (token(["alg": "none", "kid": "k"]), .unsigned),
            (token(["alg": "ES256", "kid": "k"], signature: ""), .unsigned),
            (token(["alg": "HS256", "kid": "k"]), .algorithm), (token(["alg": "RS256", "kid": "k"]), .algorithm),
            (token(["alg": "ES256"]), .keyUnknown), (token(["alg": "ES256", "kid": ""]), .keyUnknown),
            (token(["alg": "ES256", "kid": "k", "jku": "https://evil.example"]), .malformed),
            (token(["alg": "ES256", "kid": "k", "crit": ["x"]]), .malformed),
            (token(["alg": "ES256", "kid": "k", "typ": "secevent+jwt"]), .malformed),
            (token(["alg": "ES256", "kid": "k", "typ": "at+jwt"]), .malformed),
            ("not a token", .malformed), ("", .malformed), (String(repeating: "a", count: 20_000), .malformed),
        ]
        for (text, reason) in cases {
            #expect(throws: reason) { try ProviderToken(parsing: text, policy: provider.policy) }
        }
    }

    @Test func `The fingerprint ignores the signature`() throws {
        let provider = try TestProvider.apple()
        let first = try provider.key.signedToken(claims: provider.claims())
        let second = try provider.key.signedToken(claims: provider.claims())
        #expect(first != second, "ECDSA signatures are random")
        let policy = provider.policy
        #expect(
            try ProviderToken(parsing: first, policy: policy).fingerprint
                == ProviderToken(parsing: second, policy: policy).fingerprint
        )
        let other = try provider.key.signedToken(claims: provider.claims(["sub": "another"]))
        #expect(
            try ProviderToken(parsing: first, policy: policy).fingerprint
                != ProviderToken(parsing: other, policy: policy).fingerprint
        )
    }
}
