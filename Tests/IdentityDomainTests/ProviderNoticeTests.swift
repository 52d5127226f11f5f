import IdentityDomain
import JOSE
import Testing

struct ProviderNoticeTests {
    static let now = TestProvider.nowSeconds
    private static let risc = "https://schemas.openid.net/secevent/risc/event-type/"
    private static let oauth = "https://schemas.openid.net/secevent/oauth/event-type/"

    private static func apple(
        _ changes: [String: JSONValue?] = [:],
        event: JSONObject = ["type": "consent-revoked", "sub": "001.a", "event_time": 1_799_999_000_000]
    ) -> [UInt8] {
        var claims: JSONObject = [
            "iss": "https://appleid.apple.com", "aud": "com.example.app", "iat": .integer(now - 10),
            "exp": .integer(now + 3600), "jti": "j-1", "events": .string(event.text),
        ]
        for (name, value) in changes { claims[name] = value }
        return claims.serialized()
    }

    private static func google(
        _ changes: [String: JSONValue?] = [:],
        type: String = risc + "sessions-revoked",
        event: JSONObject = [
            "subject": ["subject_type": "iss-sub", "iss": "https://accounts.google.com/", "sub": "77"]
        ]
    ) -> [UInt8] {
        var claims: JSONObject = [
            "iss": "https://accounts.google.com/", "aud": ["elsewhere", "com.example.app"], "iat": .integer(now - 10),
            "jti": "j-1", "events": .object([type: .object(event)]),
        ]
        for (name, value) in changes { claims[name] = value }
        return claims.serialized()
    }

    private static func policy(_ sender: NoticeSender) throws -> ProviderPolicy {
        guard sender == .google else { return try TestProvider.apple().policy }
        return try ProviderPolicy(
            name: .google,
            issuers: ["https://accounts.google.com", "accounts.google.com"],
            audiences: [AudiencePolicy(id: "com.example.app", kind: .web, match: .either)],
            keysURL: "http://127.0.0.1:7080/google/oauth2/v3/certs"
        )
    }

    private static func judge(
        _ payload: [UInt8],
        from sender: NoticeSender,
        nowSeconds: Int64 = now
    ) throws -> ProviderNotice {
        try policy(sender).judge(notice: payload, from: sender, nowSeconds: nowSeconds)
    }

    @Test(
        arguments: [
            ("consent-revoked", .consentRevoked, .endSessions), ("account-delete", .accountDeleted, .endSessions),
            ("account-deleted", .accountDeleted, .endSessions),
            ("email-disabled", .emailDisabled, .email(isReachable: false)),
            ("email-enabled", .emailEnabled, .email(isReachable: true)), ("something-new", .other, .log),
        ] as [(String, NoticeKind, NoticeEffect)]
    )
    func `Each of Apple's types does what Apple documents`(type: String, kind: NoticeKind, effect: NoticeEffect) throws
    {
        let event: JSONObject = ["type": .string(type), "sub": "001.a", "event_time": 1_799_999_000_000]
        let notice = try Self.judge(Self.apple(event: event), from: .apple)
        #expect(notice.identifier == "j-1")
        let told = try #require(notice.events.first)
        #expect(notice.events.count == 1 && told.kind == kind && told.effect == effect)
        // Of a kind that we don't know nobody's id is kept.
        #expect(told.subject == (kind == .other ? nil : "001.a") && told.atMilliseconds == 1_799_999_000_000)
    }

    @Test(
        arguments: [
            (risc + "sessions-revoked", nil, .sessionsRevoked, .endSessions),
            (oauth + "tokens-revoked", nil, .tokensRevoked, .endSessions),
            (risc + "account-disabled", "hijacking", .accountDisabled, .disable(endsSessions: true)),
            (risc + "account-disabled", "bulk-account", .accountDisabled, .disable(endsSessions: false)),
            (risc + "account-disabled", "news", .accountDisabled, .disable(endsSessions: false)),
            (risc + "account-disabled", nil, .accountDisabled, .disable(endsSessions: false)),
            (risc + "account-enabled", nil, .accountEnabled, .enable),
            (risc + "account-credential-change-required", nil, .credentialChangeRequired, .record),
            (oauth + "token-revoked", nil, .tokenRevoked, .log), (risc + "verification", nil, .verification, .log),
            ("https://example.com/event", nil, .other, .log),
        ] as [(String, String?, NoticeKind, NoticeEffect)]
    )
    func `Each of Google's types does what Google documents`(
        type: String,
        reason: String?,
        kind: NoticeKind,
        effect: NoticeEffect
    ) throws {
        var event: JSONObject = [
            "subject": ["subject_type": "iss-sub", "iss": "https://accounts.google.com/", "sub": "77"]
        ]
        event["reason"] = reason.map { .string($0) }
        let told = try #require(try Self.judge(Self.google(type: type, event: event), from: .google).events.first)
        #expect(told.kind == kind && told.effect == effect)
        #expect(told.atMilliseconds == (Self.now - 10) * 1000)
        #expect(told.subject == ([.tokenRevoked, .verification, .other].contains(kind) ? nil : "77"))
    }

    @Test func `A test of the stream needs nobody's name`() throws {
        let payload = Self.google(type: Self.risc + "verification", event: ["state": "a test"])
        #expect(try Self.judge(payload, from: .google).events.first?.kind == .verification)
    }

    @Test func `Google's exp is not looked at, and Apple's is`() throws {
        #expect(throws: Never.self) { try Self.judge(Self.google(["exp": 1]), from: .google) }
        #expect(throws: NoticeRejection.expired) {
            try Self.judge(Self.apple(["exp": .integer(Self.now - 60)]), from: .apple)
        }
        #expect(throws: NoticeRejection.malformed) { try Self.judge(Self.apple(["exp": nil]), from: .apple) }
    }

    @Test(arguments: NoticeSender.allCases)
    func `A message that would have been forgotten is too old`(sender: NoticeSender) throws {
        #expect(ProviderNotice.rememberedSeconds > ProviderNotice.ageSecondsMax + 600)
        let issuedAt = Self.now - ProviderNotice.ageSecondsMax
        for (age, isTaken) in [(Int64(0), false), (1, true)] {
            let changes: [String: JSONValue?] = ["iat": .integer(issuedAt + age)]
            let payload = sender == .apple ? Self.apple(changes) : Self.google(changes)
            let taken = try? Self.judge(payload, from: sender)
            #expect((taken != nil) == isTaken)
        }
    }

    @Test(
        arguments: [
            ("iss", "https://evil.example", .issuer), ("iss", nil, .issuer), ("iss", 1, .issuer),
            ("iss", "https://appleid.apple.com//", .issuer),
            ("aud", "com.other.app", .audience), ("aud", nil, .audience), ("aud", [], .audience),
            ("aud", [1], .audience),
            ("iat", nil, .malformed), ("iat", "soon", .malformed), ("iat", .integer(.max), .malformed),
            ("iat", .integer(now + 61), .early), ("jti", nil, .malformed), ("jti", "", .malformed),
            ("jti", 1, .malformed),
            ("jti", "a\u{0}b", .malformed), ("jti", .string(String(repeating: "j", count: 256)), .malformed),
            ("events", nil, .malformed), ("events", "no JSON", .malformed), ("events", [], .malformed),
            ("events", .string(#"{"type":"consent-revoked"}"#), .malformed),
            ("events", .string(#"{"type":"consent-revoked","sub":""}"#), .malformed),
            ("events", .string(#"{"type":"consent-revoked","sub":"a","sub":"b"}"#), .malformed),
            ("events", .string(#"{"sub":"a"}"#), .malformed),
            ("events", .string(#"{"type":"consent-revoked","sub":"a","event_time":-1}"#), .malformed),
        ] as [(String, JSONValue?, NoticeRejection)]
    )
    func `Each fault of a message has its reason`(claim: String, value: JSONValue?, reason: NoticeRejection) throws {
        #expect(throws: reason) { try Self.judge(Self.apple([claim: value]), from: .apple) }
    }

    @Test(
        arguments: [
            [:], ["subject": "77"], ["subject": ["sub": "77"]],
            ["subject": ["iss": "https://evil.example", "sub": "77"]],
            ["subject": ["iss": "https://accounts.google.com/", "email": "a@example.com"]],
        ] as [JSONObject]
    )
    func `An event that names nobody of Google's is refused`(event: JSONObject) throws {
        #expect(throws: NoticeRejection.malformed) { try Self.judge(Self.google(event: event), from: .google) }
    }

    @Test func `A message has one event to eight`() throws {
        func events(_ count: Int) -> [UInt8] {
            var events = JSONObject()
            for number in 0..<count { events["https://example.com/\(number)"] = [:] }
            return Self.google(["events": .object(events)])
        }
        #expect(try Self.judge(events(8), from: .google).events.count == 8)
        for count in [0, 9] {
            #expect(throws: NoticeRejection.malformed) { try Self.judge(events(count), from: .google) }
        }
    }

    @Test func `A time in seconds is one, and no event is in the future`() throws {
        func time(_ value: Int64) throws -> Int64? {
            let event: JSONObject = ["type": "consent-revoked", "sub": "a", "event_time": .integer(value)]
            return try Self.judge(Self.apple(event: event), from: .apple).events.first?.atMilliseconds
        }
        #expect(try time(Self.now - 7) == (Self.now - 7) * 1000)
        #expect(try time((Self.now - 7) * 1000 + 5) == (Self.now - 7) * 1000 + 5)
        #expect(try time((Self.now + 90) * 1000) == Self.now * 1000)
    }

    // MARK: - Signatures

    private func rejection(_ text: String, key: VerificationKey, _ policy: ProviderPolicy) -> NoticeRejection? {
        do throws(NoticeRejection) {
            _ = try NoticeToken(parsing: text, policy: policy)
                .notice(verifiedWith: key, policy: policy, from: .apple, nowSeconds: Self.now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `Only the provider's signature counts, and no ID token is a message`() throws {
        let provider = try TestProvider.apple()
        let key = provider.key.verificationKey
        let claims = try JSONObject(parsing: Self.apple())
        let message = try provider.key.signedToken(claims: claims)
        #expect(rejection(message, key: key, provider.policy) == nil)
        for type in ["JWT", "secevent+jwt"] {
            let token = try provider.key.signedToken(claims: claims, type: type)
            #expect(rejection(token, key: key, provider.policy) == nil)
        }
        let other = try SigningKey.generateP256(keyID: provider.key.keyID)
        let forged = try other.signedToken(claims: claims)
        #expect(rejection(forged, key: key, provider.policy) == .signature)
        #expect(rejection("a.b", key: key, provider.policy) == .malformed)
        let accessToken = try provider.key.signedToken(claims: claims, type: "at+jwt")
        #expect(rejection(accessToken, key: key, provider.policy) == .malformed)
        let idToken = try provider.key.signedToken(claims: provider.claims())
        #expect(rejection(idToken, key: key, provider.policy) == .malformed)
        // And the other way round.
        #expect(throws: TokenRejection.self) {
            try ProviderToken(parsing: message, policy: provider.policy)
                .claims(verifiedWith: key, policy: provider.policy, nowSeconds: Self.now, nonce: "", code: "")
        }
    }
}
