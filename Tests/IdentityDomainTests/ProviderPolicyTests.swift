import IdentityDomain
import JOSE
import Testing

struct ProviderPolicyTests {
    static let now = TestProvider.nowSeconds

    @Test func `A good token gives its claims`() throws {
        let claims = try TestProvider.apple().judge(["real_user_status": 2, "name": "Pat"])
        #expect(claims.subject == "001234.abcdef.0123")
        #expect(claims.audience == "com.example.app")
        #expect(claims.issuedAtSeconds == Self.now - 10)
        #expect(claims.acceptedUntilSeconds == Self.now + 86_000 + 60)
        #expect(claims.email == "person@example.com")
        #expect(claims.isEmailVerified)
        #expect(claims.isPrivateEmail)
        #expect(claims.name == "Pat")
        #expect(claims.realUserStatus == 2)
    }

    @Test(
        arguments: [
            ("iss", "https://evil.example", .issuer), ("iss", nil, .issuer), ("iss", 1, .issuer),
            ("iss", ["https://appleid.apple.com"], .issuer), ("iss", "https://appleid.apple.com/", .issuer),
            ("aud", "com.other.app", .audience), ("aud", nil, .audience), ("aud", [], .audience),
            ("aud", ["com.example.app", "com.other.app"], .audience), ("aud", ["com.example.app", 1], .audience),
            ("aud", 1, .audience), ("aud", "", .audience),
            ("exp", .integer(now - 60), .expired), ("exp", .integer(0), .expired), ("exp", nil, .malformed),
            ("exp", "soon", .malformed), ("exp", .number(literal: "1e10"), .malformed), ("exp", -1, .malformed),
            ("exp", .integer(.max), .malformed), ("exp", .number(literal: "9223372036854775808"), .malformed),
            ("iat", nil, .malformed), ("iat", .integer(.min), .malformed), ("iat", .integer(now + 61), .notYetValid),
            ("iat", .integer(now - 86_461), .expired), ("nbf", .integer(now + 61), .notYetValid),
            ("nbf", true, .malformed),
            ("nonce", nil, .nonceMissing), ("nonce", "", .nonceMismatch), ("nonce", "raw-nonce", .nonceMismatch),
            ("nonce", 1, .nonceMismatch),
            ("nonce", .string(Hex.encode(SHA256.hash("another"))), .nonceMismatch),
            ("nonce", .string(Base64URL.encode(SHA256.hash("raw-nonce"))), .nonceMismatch),
            ("nonce", .string(Hex.encode(SHA256.hash("raw-nonce")).uppercased()), .nonceMismatch),
            ("nonce", .string(Hex.encode(SHA256.hash(Hex.encode(SHA256.hash("raw-nonce"))))), .nonceMismatch),
            ("c_hash", "AAAA", .codeHash), ("c_hash", 1, .codeHash),
            ("c_hash", .string(SignatureAlgorithm.es256.halfHash(of: "another")), .codeHash),
            ("sub", nil, .subject), ("sub", "", .subject), ("sub", 1, .subject), ("sub", "a\nb", .subject),
            ("sub", "é", .subject), ("sub", .string(String(repeating: "s", count: 256)), .subject),
        ] as [(String, JSONValue?, TokenRejection)]
    )
    func `Each fault has its reason`(claim: String, value: JSONValue?, reason: TokenRejection) throws {
        let provider = try TestProvider.apple()
        #expect(throws: reason) { try provider.judge([claim: value]) }
    }

    @Test(
        arguments: [
            ("aud", ["com.example.web"]), ("aud", ["com.example.app", "com.example.web"]), ("azp", "anyone"),
            ("exp", .integer(now - 59)), ("exp", .number(literal: "\(now + 5).75")), ("iat", .integer(now + 60)),
            ("nbf", .integer(now + 60)), ("c_hash", nil), ("email", nil), ("email", ""), ("email", 1),
            ("nonce_supported", nil), ("nonce_supported", false), ("real_user_status", "x"),
            ("real_user_status", 99), ("sub", .string(String(repeating: "s", count: 255))),
        ] as [(String, JSONValue?)]
    )
    func `Unusual but harmless claims are accepted`(claim: String, value: JSONValue?) throws {
        let provider = try TestProvider.apple()
        #expect(throws: Never.self) { try provider.judge([claim: value]) }
    }

    @Test(arguments: [
        (JSONValue.bool(true), true), (.string("true"), true), (.bool(false), false), (.string("false"), false),
        (.string("TRUE"), false), (.integer(1), false), (.null, false),
    ])
    func `Truth values may be texts`(value: JSONValue, isTrue: Bool) throws {
        let claims = try TestProvider.apple().judge(["email_verified": value, "is_private_email": value])
        #expect(claims.isEmailVerified == isTrue)
        #expect(claims.isPrivateEmail == isTrue)
    }

    @Test func `Proofs that are presented must match`() throws {
        let provider = try TestProvider.apple()
        #expect(throws: TokenRejection.nonceMissing) { try provider.judge(nonce: "") }
        #expect(throws: TokenRejection.nonceMismatch) { try provider.judge(nonce: "another") }
        #expect(throws: TokenRejection.nonceMismatch) {
            try provider.judge(nonce: Hex.encode(SHA256.hash("raw-nonce")))
        }
        #expect(throws: TokenRejection.nonceMismatch) { try provider.judge(nonce: String(repeating: "n", count: 2049)) }
        #expect(throws: TokenRejection.codeHash) { try provider.judge(code: "another") }
        #expect(throws: TokenRejection.codeHash) { try provider.judge(code: String(repeating: "c", count: 2049)) }
        #expect(throws: Never.self) { try provider.judge(code: "") }
    }

    @Test func `A nonce matches raw or hashed, as the policy says`() {
        let hash = Hex.encode(SHA256.hash("n"))
        #expect(NonceMatch.sha256.matches(claim: hash, rawNonce: "n"))
        #expect(!NonceMatch.sha256.matches(claim: "n", rawNonce: "n"))
        #expect(NonceMatch.raw.matches(claim: "n", rawNonce: "n"))
        #expect(!NonceMatch.raw.matches(claim: hash, rawNonce: "n"))
        #expect(NonceMatch.either.matches(claim: "n", rawNonce: "n"))
        #expect(NonceMatch.either.matches(claim: hash, rawNonce: "n"))
        #expect(!NonceMatch.either.matches(claim: "m", rawNonce: "n"))
    }

    @Test func `Malformed payloads are refused`() throws {
        let policy = try TestProvider.apple().policy
        for payload in [
            "", "[]", "{", #"{"iss":"a","iss":"a"}"#, #"{"a":"\#(String(repeating: "a", count: 17_000))"}"#,
        ] {
            #expect(throws: TokenRejection.malformed) {
                try policy.judge(
                    payload: Array(payload.utf8),
                    algorithm: .es256,
                    nowSeconds: Self.now,
                    nonce: "n",
                    code: ""
                )
            }
        }
    }

    @Test func `Faults of a policy are named`() throws {
        func make(
            issuers: [String] = ["i"],
            audiences: [String] = ["a"],
            algorithms: [SignatureAlgorithm] = [.rs256],
            url: String = "https://example.com/keys",
            leeway: Int64 = 60
        ) throws -> ProviderPolicy {
            try ProviderPolicy(
                name: .google,
                issuers: issuers,
                audiences: audiences.map { AudiencePolicy(id: $0, match: .raw) },
                algorithms: algorithms,
                keysURL: url,
                clockLeewaySeconds: leeway
            )
        }
        #expect(throws: Never.self) { try make() }
        #expect(throws: ProviderPolicyError.issuers) { try make(issuers: []) }
        #expect(throws: ProviderPolicyError.issuers) { try make(issuers: [""]) }
        #expect(throws: ProviderPolicyError.audiences) { try make(audiences: []) }
        #expect(throws: ProviderPolicyError.audiences) { try make(audiences: [""]) }
        #expect(throws: ProviderPolicyError.audiences) { try make(audiences: ["a", "a"]) }
        #expect(throws: ProviderPolicyError.algorithms) { try make(algorithms: []) }
        #expect(throws: ProviderPolicyError.keysURL) { try make(url: "http://example.com/keys") }
        #expect(throws: ProviderPolicyError.times) { try make(leeway: 601) }
    }

    @Test(arguments: [
        ("https://example.com/keys", true), ("http://127.0.0.1:7080/apple/auth/keys", true), ("http://[::1]:1/k", true),
        ("http://simulator.test:7080/k", true), ("http://simulator.test", true), ("http://.test/k", false),
        ("http://test/k", false), ("http://test.example.com/k", false), ("http://a.test:b/k", false),
        ("http://a.test.:80/k", false), ("http://127.0.0.1.test.example.com", false), ("http://[::1]x/k", false),
        ("http://localhost/k", true), ("http://127.0.0.1", true), ("http://example.com", false), ("https://", false),
        ("http://127.0.0.1.example.com/k", false), ("http://127.0.0.1@example.com/k", false),
        ("http://127.0.0.1:80@example.com/k", false), ("http://localhost.example.com", false), ("ftp://a/b", false),
        ("https://example.com/a b", false), ("", false), ("file:///etc/passwd", false), ("https:///k", false),
        ("https://example.com/k#f", false), ("https://example.com/k?a=b", true),
    ])
    func `A provider's URL is HTTPS, or on a machine that is ours`(url: String, isAcceptable: Bool) {
        #expect(ProviderURL.isAcceptable(url) == isAcceptable)
    }

    @Test func `Provider names are short and plain`() {
        #expect(ProviderName("apple") == .apple)
        for text in ["", "Apple", "1a", "a b", "-a", "é", String(repeating: "a", count: 33)] {
            #expect(ProviderName(text) == nil)
        }
    }
}
