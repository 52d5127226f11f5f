import JOSE
import Models
import Testing

@testable import IdentityDomain

struct SingleTokensTests {
    private let key: [UInt8]
    private let tokens: SingleTokens
    private let issuer: TokenIssuer
    private let userID = UserID(high: 1, low: 2)
    private let sessionID = SessionID(high: 3, low: 4)
    private let nonce = [UInt8](1...16)
    private let now: Int64 = 1_800_000_000

    init() throws {
        key = SecureRandom.bytes(RefreshKeys.keyByteCount)
        tokens = try Self.tokens([key])
        issuer = TokenIssuer(
            issuer: "https://id.example.com",
            audience: "vestibule",
            lifetimeSeconds: 600,
            signingKey: try SigningKey.generateP256(),
            refreshKeys: try #require(RefreshKeys([key]))
        )
    }

    private static func tokens(
        _ keys: [[UInt8]],
        issuer: String = "https://id.example.com"
    ) throws -> SingleTokens {
        SingleTokens(issuer: issuer, lifetimeSeconds: 30 * 86_400, keys: try #require(RefreshKeys(keys)))
    }

    private func mint(
        _ tokens: SingleTokens? = nil,
        style: SingleTokenStyle = .renewed,
        endsAt: Int64 = 1_815_552_000
    ) -> String {
        (tokens ?? self.tokens).mint(
            userID: userID,
            sessionID: sessionID,
            nonce: nonce,
            style: style,
            sessionEndsAtSeconds: endsAt,
            nowSeconds: now
        ).text
    }

    private func expectRefused(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(throws: IdentityError.accessTokenInvalid, sourceLocation: sourceLocation) {
            _ = try tokens.verifiedClaims(text)
        }
    }

    /// The header's and the payload's JSON.
    private func parts(of text: String) throws -> (header: JSONObject, claims: JSONObject) {
        let parts = try text.split(separator: ".").map { try #require(Base64URL.decode($0)) }
        return (try JSONObject(parsing: parts[0]), try JSONObject(parsing: parts[1]))
    }

    /// A token with any header and claims, signed by HMAC-SHA256.
    private func token(header: JSONObject, claims: JSONObject, key: [UInt8]) -> String {
        let input = Base64URL.encode(header.serialized()) + "." + Base64URL.encode(claims.serialized())
        return input + "." + Base64URL.encode(SHA256.authenticationCode(of: Array(input.utf8), key: key))
    }

    private var derivedKey: [UInt8] {
        SHA256.authenticationCode(of: Array("vestibule single token 1".utf8), key: key)
    }

    @Test func `A single token has a type and an audience of its own`() throws {
        let (header, claims) = try parts(of: mint())
        #expect(header == ["alg": "HS256", "typ": "vst+jwt"])
        #expect(
            claims == [
                "iss": "https://id.example.com", "aud": "vestibule-single-token",
                "sub": "00000000-0000-0001-0000-000000000002", "sid": "00000000-0000-0003-0000-000000000004",
                "iat": 1_800_000_000, "exp": 1_802_592_000, "style": "renewed",
                "session_nonce": "AQIDBAUGBwgJCgsMDQ4PEA",
            ]
        )
        let verified = try tokens.verifiedClaims(mint())
        #expect(verified.userID == userID && verified.sessionID == sessionID && verified.nonce == nonce)
        #expect(verified.style == .renewed && verified.expiresAtSeconds == 1_802_592_000)
    }

    @Test func `It is signed as RFC 7515 says, under a key that is not the refresh key`() throws {
        let (header, claims) = try parts(of: mint())
        #expect(token(header: header, claims: claims, key: derivedKey) == mint())
        expectRefused(token(header: header, claims: claims, key: key))
    }

    @Test func `No token outlives its session`() throws {
        #expect(try tokens.verifiedClaims(mint(endsAt: now + 86_400)).expiresAtSeconds == now + 86_400)
        let forSession = try tokens.verifiedClaims(mint(style: .forSession))
        #expect(forSession.expiresAtSeconds == 1_815_552_000)
        #expect(forSession.style == .forSession)
    }

    @Test func `A lifetime ends on the second`() throws {
        let claims = try tokens.verifiedClaims(mint(endsAt: now + 100))
        #expect(throws: Never.self) { try claims.checkLifetime(nowSeconds: now + 99) }
        #expect(throws: IdentityError.accessTokenExpired) { try claims.checkLifetime(nowSeconds: now + 100) }
    }

    @Test func `Every key verifies, and the first one signs`() throws {
        let newKey = SecureRandom.bytes(32)
        let both = try Self.tokens([newKey, key])
        let new = try Self.tokens([newKey])
        #expect(try both.verifiedClaims(mint()).sessionID == sessionID)
        #expect(try new.verifiedClaims(mint(both)).sessionID == sessionID)
        #expect(throws: IdentityError.accessTokenInvalid) { _ = try new.verifiedClaims(mint()) }
    }

    @Test func `Another deployment's tokens are refused, by key and by issuer`() throws {
        expectRefused(mint(try Self.tokens([SecureRandom.bytes(32)])))
        expectRefused(mint(try Self.tokens([key], issuer: "https://other.example.com")))
    }

    @Test func `Any other header is refused, however it is signed`() throws {
        let claims = try parts(of: mint()).claims
        let headers: [JSONObject] = [
            ["typ": "vst+jwt", "alg": "HS256"], ["alg": "hs256", "typ": "vst+jwt"], ["alg": "none", "typ": "vst+jwt"],
            ["alg": "HS512", "typ": "vst+jwt"], ["alg": "ES256", "typ": "vst+jwt"], ["alg": "HS256", "typ": "at+jwt"],
            ["alg": "HS256", "typ": "JWT"], ["alg": "HS256"], ["alg": "HS256", "typ": "vst+jwt", "kid": "1"],
            ["alg": "HS256", "typ": "vst+jwt", "crit": ["b64"], "b64": false],
        ]
        for header in headers {
            let text = token(header: header, claims: claims, key: derivedKey)
            #expect(!SingleTokens.isSingleToken(text))
            expectRefused(text)
        }
    }

    @Test func `Claims that are missing or of another kind are refused`() throws {
        let (header, claims) = try parts(of: mint())
        for name in ["iss", "aud", "sub", "sid", "exp", "style", "session_nonce"] {
            for value: JSONValue? in [nil, .null, .number(literal: "1.5"), "", ["vestibule-single-token"], true] {
                var changed = claims
                changed[name] = value
                expectRefused(token(header: header, claims: changed, key: derivedKey))
            }
        }
        var changed = claims
        changed["session_nonce"] = "AQID"
        expectRefused(token(header: header, claims: changed, key: derivedKey))
    }

    @Test func `Any change makes a token invalid`() throws {
        let text = mint()
        expectRefused("")
        expectRefused(text + "A")
        expectRefused(text + ".")
        expectRefused(text + "=")
        expectRefused(String(repeating: text, count: 4))
        for offset in 0..<text.utf8.count {
            var bytes = Array(text.utf8)
            bytes[offset] ^= 1
            expectRefused(String(decoding: bytes, as: UTF8.self))
            expectRefused(String(text.prefix(offset)))
        }
    }

    @Test func `A long text costs nothing`() throws {
        let start = mint().prefix { $0 != "." } + "."
        expectRefused(String(start) + String(repeating: "A", count: SingleTokens.bytesMax))
    }

    @Test func `A header with a code over it alone is refused`() throws {
        // The code is a right one, over the header and its dot, or over the header.
        let header = String(mint().prefix { $0 != "." })
        for input in [header, header + "."] {
            let code = SHA256.authenticationCode(of: Array(input.utf8), key: derivedKey)
            expectRefused(input + "." + Base64URL.encode(code))
        }
    }

    @Test func `A verifier of access tokens rejects single tokens, and the reverse`() throws {
        #expect(throws: IdentityError.accessTokenInvalid) { _ = try issuer.verifiedAccessClaims(mint()) }
        #expect(throws: JWSError.unsupportedAlgorithm) { _ = try CompactJWS(parsing: mint()) }
        let session = SessionFacts(
            userID: userID,
            sessionID: sessionID,
            provider: .apple,
            clientID: "com.example.app",
            signedInAtSeconds: now,
            proof: .nonce
        )
        let accessToken = try issuer.accessToken(for: session, number: 7, tokenID: "id", nowSeconds: now)
        #expect(!SingleTokens.isSingleToken(accessToken))
        expectRefused(accessToken)
        expectRefused(try issuer.idToken(for: session, nowSeconds: now))
    }

    @Test func `Nothing is taken that is signed by HMAC with a public key`() throws {
        let publicKey = issuer.keySet.json.serialized()
        var claims = try parts(of: mint()).claims
        expectRefused(token(header: ["alg": "HS256", "typ": "vst+jwt"], claims: claims, key: publicKey))
        claims["aud"] = "vestibule"
        let keyID = try #require(issuer.keySet.entries.first?.keyID)
        let confused = token(
            header: ["alg": "HS256", "kid": .string(keyID), "typ": "at+jwt"],
            claims: claims,
            key: publicKey
        )
        #expect(throws: IdentityError.accessTokenInvalid) { _ = try issuer.verifiedAccessClaims(confused) }
    }

    @Test func `A description shows no key`() throws {
        #expect(tokens.description == "SingleTokens(1 keys)")
    }
}
