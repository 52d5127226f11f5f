import IdentityDomain
import JOSE
import Testing

/// Every combination of an audience's settings, a token's claim and the app's nonce.
struct NonceRulesTests {
    /// The nonce claim in the token.
    enum Claim: CaseIterable {
        case absent, null, empty, raw, hash, foreign, number

        var value: JSONValue? {
            switch self {
            case .absent: nil
            case .null: .null
            case .empty: ""
            case .raw: .string(TestProvider.rawNonce)
            case .hash: .string(Hex.encode(SHA256.hash(TestProvider.rawNonce)))
            case .foreign: "another"
            case .number: 1
            }
        }

        /// Whether knowing the raw nonce proves this claim.
        func isMatched(by match: NonceMatch) -> Bool {
            switch self {
            case .raw: match != .sha256
            case .hash: match != .raw
            case .absent, .null, .empty, .foreign, .number: false
            }
        }
    }

    /// The nonce from the app.
    enum Presented: CaseIterable {
        case nothing, right, wrong, tooLong

        var nonce: String {
            switch self {
            case .nothing: ""
            case .right: TestProvider.rawNonce
            case .wrong: "a wrong one"
            case .tooLong: String(repeating: "n", count: ProviderToken.proofBytesMax + 1)
            }
        }
    }

    /// The expected verdict, or nil for a refusal: derived setting by setting, independently of the tested code.
    static func expected(_ audience: AudiencePolicy, _ claim: Claim, _ presented: Presented) -> NonceVerdict? {
        switch (presented, audience.nonce) {
        case (.tooLong, _): nil
        case (.right, _) where claim.isMatched(by: audience.match): .proven
        case (_, .required), (_, .server): nil
        case (.nothing, .optional): claim == .absent && audience.withoutNonce != .refuse ? .notProven : nil
        case (_, .optional): nil
        case (_, .unknown): audience.withoutNonce == .refuse ? nil : .notProven
        }
    }

    @Test func `The verdict follows from match, nonce and without_nonce`() throws {
        var provider = try TestProvider.apple()
        var seen: [NonceVerdict?: Int] = [:]
        for match in NonceMatch.allCases {
            for nonce in AudiencePolicy.Nonce.allCases {
                for withoutNonce in AudiencePolicy.WithoutNonce.allCases {
                    let audience = AudiencePolicy(
                        id: "com.example.app",
                        match: match,
                        nonce: nonce,
                        withoutNonce: withoutNonce
                    )
                    provider.policy = try TestProvider.policy([audience])
                    for claim in Claim.allCases {
                        for presented in Presented.allCases {
                            let expected = Self.expected(audience, claim, presented)
                            seen[expected, default: 0] += 1
                            #expect(
                                try Self.verdict(provider, claim, presented.nonce) == expected,
                                "\(match) \(nonce) \(withoutNonce): \(claim), \(presented)"
                            )
                        }
                    }
                }
            }
        }
        // 3 × 4 × 3 settings, 7 claims, 4 nonces from the app.
        #expect(seen.values.reduce(0, +) == 1008)
        // Proven: 4 pairs of match and claim, in all 12 settings. Not proven: no claim and nothing presented (optional), 3 × 2;
        // all that doesn't match (unknown), 59 × 2.
        #expect(seen == [.proven: 48, .notProven: 124, nil: 836])
    }

    private static func verdict(_ provider: TestProvider, _ claim: Claim, _ nonce: String?) throws -> NonceVerdict? {
        do {
            let claims = try provider.judge(["nonce": claim.value], nonce: nonce)
            #expect(claims.policy == provider.policy.audiences["com.example.app"])
            return claims.nonceVerdict
        } catch TokenRejection.nonceMissing, TokenRejection.nonceMismatch {
            return nil
        }
    }

    /// Native apps give Apple no nonce, and their tokens still say that one is supported.
    @Test(arguments: [JSONValue?.none, true, false, "true"])
    func `The nonce_supported claim is no reason to refuse`(supported: JSONValue?) throws {
        var provider = try TestProvider.apple()
        provider.policy = try TestProvider.policy([
            AudiencePolicy(id: "com.example.app", match: .sha256, nonce: .optional, withoutNonce: .fresh)
        ])
        let claims = try provider.judge(["nonce": nil as JSONValue?, "nonce_supported": supported], nonce: "")
        #expect(claims.nonceVerdict == .notProven)
    }

    @Test func `A token from a code exchange needs no nonce`() throws {
        let provider = try TestProvider.apple()
        for claim in Claim.allCases {
            #expect(try Self.verdict(provider, claim, nil) == .notProven)
        }
    }

    /// A token that names a lax app and a strict one must not sign in by the lax one's rules.
    @Test func `A token for several apps needs equal rules for all of them`() throws {
        let strict = AudiencePolicy(id: "com.example.app", match: .sha256)
        let same = AudiencePolicy(id: "same", kind: .web, match: .sha256, accessTokenSeconds: 60)
        let others = [
            AudiencePolicy(id: "other", match: .either),
            AudiencePolicy(id: "other", match: .sha256, nonce: .unknown),
            AudiencePolicy(id: "other", match: .sha256, withoutNonce: .fresh),
        ]
        for other in others {
            var provider = try TestProvider.apple()
            provider.policy = try TestProvider.policy([strict, same, other])
            #expect(throws: TokenRejection.audience) { try provider.judge(["aud": ["com.example.app", "other"]]) }
            #expect(throws: TokenRejection.audience) { try provider.judge(["aud": ["other", "com.example.app"]]) }
            let claims = try provider.judge(["aud": ["same", "com.example.app"]])
            #expect(claims.audience == "same")
            #expect(claims.policy == same)
        }
    }

    @Test func `The first error in a fixed order is reported`() throws {
        let provider = try TestProvider.apple()
        let faults: [(String, JSONValue?, TokenRejection)] = [
            ("iss", "x", .issuer), ("aud", "x", .audience), ("exp", 0, .expired), ("nonce", "x", .nonceMismatch),
            ("c_hash", "x", .codeHash), ("sub", "", .subject),
        ]
        for index in faults.indices {
            let changes = Dictionary(uniqueKeysWithValues: faults[index...].map { ($0.0, $0.1) })
            #expect(throws: faults[index].2) { try provider.judge(changes) }
        }
    }
}
