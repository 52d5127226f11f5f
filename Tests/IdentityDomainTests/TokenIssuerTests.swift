import JOSE
import Models
import Testing

@testable import IdentityDomain

struct TokenIssuerTests {
    private let key: SigningKey
    private let refreshKeys: RefreshKeys
    private let issuer: TokenIssuer
    private let session: SessionFacts
    private let now: Int64 = 1_800_000_000

    init() throws {
        key = try SigningKey.generateP256()
        refreshKeys = try #require(RefreshKeys([SecureRandom.bytes(32)]))
        issuer = TokenIssuer(
            issuer: "https://id.example.com",
            audience: "vestibule",
            lifetimeSeconds: 600,
            signingKey: key,
            refreshKeys: refreshKeys
        )
        session = SessionFacts(
            userID: UserID(high: 1, low: 2),
            sessionID: SessionID(high: 3, low: 4),
            provider: .apple,
            clientID: "com.example.app",
            signedInAtSeconds: 1_799_999_000,
            proof: .nonce
        )
    }

    @Test func `An access token has the header and claims of RFC 9068, section 2`() throws {
        let text = try issuer.accessToken(for: session, number: 7, tokenID: "id", nowSeconds: now)
        let jws = try CompactJWS(parsing: text)
        #expect(jws.type == "at+jwt")
        #expect(jws.keyID == key.keyID)
        var claims = try JSONObject(parsing: jws.verifiedPayload(with: key.verificationKey))
        #expect(claims.members.last?.name == "mac")
        claims["mac"] = nil
        let expected: JSONObject = [
            "iss": "https://id.example.com", "sub": "00000000-0000-0001-0000-000000000002", "aud": "vestibule",
            "client_id": "com.example.app", "iat": 1_800_000_000, "exp": 1_800_000_600, "jti": "id",
            "sid": "00000000-0000-0003-0000-000000000004", "num": 7, "auth_time": 1_799_999_000,
            "acr": "urn:vestibule:acr:provider",
        ]
        #expect(claims == expected)
        #expect(
            try issuer.verifiedAccessClaims(text)
                == AccessClaims(
                    userID: session.userID,
                    sessionID: session.sessionID,
                    number: 7,
                    expiresAtSeconds: now + 600,
                    audience: issuer.audience
                )
        )
    }

    @Test func `Where there are guests a user's token says that it is none's, and is read as quickly`() throws {
        let issuer = TokenIssuer(
            issuer: issuer.issuer,
            audience: issuer.audience,
            lifetimeSeconds: 600,
            signingKey: key,
            refreshKeys: refreshKeys,
            tellsGuestsApart: true
        )
        for scope in [nil, "profile"] {
            let text = try issuer.accessToken(for: session, number: 7, tokenID: "id", scope: scope, nowSeconds: now)
            let payload = try CompactJWS(parsing: text).verifiedPayload(with: key.verificationKey)
            #expect(try JSONObject(parsing: payload)["is_anonymous"] == false)
            let payloads = AccessTokenPayloads(issuer: issuer.issuer, audience: issuer.audience)
            let read = payload.withUnsafeBufferPointer { payloads.claimsAsWeWrite($0) }
            #expect(try read != nil && read == issuer.verifiedAccessClaims(text) && read?.isGuest == false)
        }
        let guest = SessionFacts(
            userID: session.userID,
            sessionID: session.sessionID,
            provider: .guest,
            clientID: "guest",
            signedInAtSeconds: session.signedInAtSeconds,
            proof: .guest
        )
        let text = try issuer.accessToken(for: guest, number: 7, tokenID: "id", nowSeconds: now)
        #expect(try issuer.verifiedAccessClaims(text).isGuest)
    }

    @Test(arguments: Proof.allCases)
    func `Tokens say how the sign-in was proven, and a user's is read as quickly`(proof: Proof) throws {
        let session = SessionFacts(
            userID: session.userID,
            sessionID: session.sessionID,
            provider: proof == .guest ? .guest : .apple,
            clientID: "com.example.app",
            signedInAtSeconds: session.signedInAtSeconds,
            proof: proof
        )
        let text = try issuer.accessToken(for: session, number: 7, tokenID: "id", scope: "profile", nowSeconds: now)
        let payload = try CompactJWS(parsing: text).verifiedPayload(with: key.verificationKey)
        let context = AuthenticationContext(proof)
        #expect(try JSONObject(parsing: payload)["acr"] == .string(context.rawValue))
        let payloads = AccessTokenPayloads(issuer: issuer.issuer, audience: issuer.audience)
        let read = payload.withUnsafeBufferPointer { payloads.claimsAsWeWrite($0) }
        #expect((read == nil) == (proof == .guest))
        #expect(try issuer.verifiedAccessClaims(text).isGuest == (proof == .guest))
        let idToken = try CompactJWS(parsing: issuer.idToken(for: session, nowSeconds: now))
        let claims = try JSONObject(parsing: idToken.verifiedPayload(with: key.verificationKey))
        #expect(claims["acr"] == .string(context.rawValue))
    }

    @Test func `A bound token names its key, and one that is bound to something unknown is no token`() throws {
        let thumbprint = try #require(JWKThumbprint(bytes: [UInt8](repeating: 9, count: 32)))
        let session = SessionFacts(
            userID: session.userID,
            sessionID: session.sessionID,
            provider: .apple,
            clientID: "com.example.app",
            signedInAtSeconds: session.signedInAtSeconds,
            proof: .nonce,
            key: thumbprint
        )
        let text = try issuer.accessToken(for: session, number: 7, tokenID: "id", scope: "profile", nowSeconds: now)
        let payload = try CompactJWS(parsing: text).verifiedPayload(with: key.verificationKey)
        #expect(try JSONObject(parsing: payload)["cnf"] == .object(["jkt": .string(thumbprint.text)]))
        #expect(try issuer.verifiedAccessClaims(text).key == thumbprint)
        #expect(try issuer.verifiedAccessClaims(text, audience: .any).key == thumbprint)
        let payloads = AccessTokenPayloads(issuer: issuer.issuer, audience: issuer.audience)
        #expect(payload.withUnsafeBufferPointer { payloads.claimsAsWeWrite($0) } == nil)
        var claims = try JSONObject(parsing: payload)
        let others: [JSONValue] = [
            .object([:]), .object(["x5t#S256": "A"]), .object(["jkt": "short"]), .object(["jkt": 1]), "jkt", .null, [],
        ]
        for other in others {
            claims["cnf"] = other
            let read = claims.serialized().withUnsafeBufferPointer { payloads.claims($0) }
            #expect(read == nil, "\(other)")
        }
    }

    @Test func `A passkey is enough where a provider is, and nothing else is enough for another context`() {
        for one in AuthenticationContext.allCases {
            for other in AuthenticationContext.allCases {
                #expect(one.satisfies(other) == (one == other || one == .passkey && other == .provider))
            }
        }
        // One rule: what acts accept is what their errors name.
        for proof in Proof.allCases {
            #expect(
                AccountAct.acceptedProofs.contains(proof)
                    == AccountAct.acceptedContexts.contains(AuthenticationContext(proof))
            )
        }
    }

    @Test func `A lifetime ends on the second`() throws {
        let claims = try issuer.verifiedAccessClaims(
            issuer.accessToken(for: session, number: 7, tokenID: "id", nowSeconds: now)
        )
        #expect(throws: Never.self) { try claims.checkLifetime(nowSeconds: now + 599) }
        #expect(throws: IdentityError.accessTokenExpired) { try claims.checkLifetime(nowSeconds: now + 600) }
    }

    @Test func `An ID token is for the app and is not an access token`() throws {
        let text = try issuer.idToken(for: session, nowSeconds: now)
        let claims = try JSONObject(parsing: CompactJWS(parsing: text).verifiedPayload(with: key.verificationKey))
        #expect(claims["aud"] == "com.example.app")
        #expect(claims["idp"] == "apple")
        #expect(claims["auth_time"] == 1_799_999_000)
        #expect(throws: IdentityError.accessTokenInvalid) { try issuer.verifiedAccessClaims(text) }
    }

    @Test func `Refuses foreign tokens`() throws {
        let good = try issuer.accessToken(for: session, number: 7, tokenID: "id", nowSeconds: now)
        var payload = try JSONObject(parsing: CompactJWS(parsing: good).verifiedPayload(with: key.verificationKey))
        // With the MAC this header and payload would be accepted under any signature.
        payload["mac"] = nil
        func token(_ name: String, _ value: JSONValue?) throws -> String {
            var claims = payload
            claims[name] = value
            return try key.signedToken(claims: claims, type: "at+jwt")
        }
        let stranger = try SigningKey.generateP256(keyID: key.keyID)
        let strangerRSA = try SigningKey.generateRSA2048(keyID: key.keyID)
        let refused = [
            "", "a.b.c", good + "A", String(good.dropLast()), String(repeating: "a", count: 5_000),
            try stranger.signedToken(claims: payload, type: "at+jwt"),
            try strangerRSA.signedToken(claims: payload, type: "at+jwt"),
            try SigningKey.generateP256().signedToken(claims: payload, type: "at+jwt"),
            try key.signedToken(claims: payload, type: "JWT"), try key.signedToken(claims: payload),
            try token("iss", "https://evil.example"), try token("aud", "another"), try token("aud", ["vestibule"]),
            try token("sub", "nobody"), try token("sid", nil), try token("exp", nil), try token("exp", "1"),
        ]
        for text in refused {
            #expect(throws: IdentityError.accessTokenInvalid) { try issuer.verifiedAccessClaims(text) }
        }
    }

    @Test func `Retired keys still verify`() throws {
        let next = try SigningKey.generateP256()
        let publicHalf = try VerificationKey(pem: key.verificationKey.pem())
        let rotated = TokenIssuer(
            issuer: issuer.issuer,
            audience: issuer.audience,
            lifetimeSeconds: 600,
            signingKey: next,
            otherKeys: [publicHalf],
            refreshKeys: refreshKeys
        )
        let old = try issuer.accessToken(for: session, number: 7, tokenID: "id", nowSeconds: now)
        let new = try rotated.accessToken(for: session, number: 7, tokenID: "id", nowSeconds: now)
        #expect(try rotated.verifiedAccessClaims(old) == rotated.verifiedAccessClaims(new))
        #expect(rotated.keySet.entries.map(\.keyID) == [next.keyID, key.keyID])
        #expect(throws: IdentityError.accessTokenInvalid) { try issuer.verifiedAccessClaims(new) }
    }

    @Test func `The cache is bounded and keeps entries in use`() {
        var cache = VerifiedTokenCache<AccessClaims>(capacity: 10)
        let claims = AccessClaims(
            userID: session.userID,
            sessionID: session.sessionID,
            number: 7,
            expiresAtSeconds: 1,
            audience: issuer.audience
        )
        for number in 0..<1_000 {
            cache.insert(claims, for: "\(number)")
            #expect(cache.value(of: "\(number)") == claims)
            #expect(cache.value(of: "0") == claims, "a token in use stays")
            #expect(cache.count <= 20)
        }
        #expect(cache.value(of: "1") == nil)
    }

    @Test func `The cache compares texts by their bytes`() {
        var cache = VerifiedTokenCache<AccessClaims>(capacity: 10)
        let claims = AccessClaims(
            userID: session.userID,
            sessionID: session.sessionID,
            number: 7,
            expiresAtSeconds: 1,
            audience: issuer.audience
        )
        let end = String(repeating: "x", count: 40)
        cache.insert(claims, for: "K" + end)
        #expect("\u{212A}" + end == "K" + end, "for String, the sign of kelvin is a K")
        #expect(cache.value(of: "\u{212A}" + end) == nil)
        #expect(cache.value(of: "K" + end) == claims)
        #expect(cache.value(of: "") == nil)
    }
}
