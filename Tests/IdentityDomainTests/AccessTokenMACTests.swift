import JOSE
import Models
import Testing

@testable import IdentityDomain

/// Access tokens that identity knows by their last claim. What a test signs falsely here has no good signature, so that the claim
/// alone would let it in.
struct AccessTokenMACTests {
    private let key: SigningKey
    private let refreshKey = SecureRandom.bytes(32)
    private let issuer: TokenIssuer
    private let now: Int64 = 1_800_000_000
    private let session = SessionFacts(
        userID: UserID(high: 0x0190_163d_8694_739b, low: 0xaea5_966c_26f8_ad91),
        sessionID: SessionID(high: 0xffff_ffff_ffff_ffff, low: 4),
        provider: .apple,
        clientID: "com.example.app",
        signedInAtSeconds: 1_799_999_000,
        proof: .nonce
    )

    init() throws {
        key = try SigningKey.generateP256()
        issuer = try Self.issuer(key, [refreshKey])
    }

    private static func issuer(
        _ key: SigningKey,
        _ refreshKeys: [[UInt8]],
        otherKeys: [VerificationKey] = [],
        audience: String = "vestibule"
    ) throws -> TokenIssuer {
        TokenIssuer(
            issuer: "https://id.example.com",
            audience: audience,
            lifetimeSeconds: 600,
            signingKey: key,
            otherKeys: otherKeys,
            refreshKeys: try #require(RefreshKeys(refreshKeys))
        )
    }

    private func token(_ issuer: TokenIssuer? = nil) throws -> String {
        try (issuer ?? self.issuer).accessToken(
            for: session,
            number: 7,
            tokenID: Base64URL.encode(SecureRandom.bytes(16)),
            nowSeconds: now
        )
    }

    private var claims: AccessClaims { claims(audience: issuer.audience) }

    private func claims(audience: String) -> AccessClaims {
        AccessClaims(
            userID: session.userID,
            sessionID: session.sessionID,
            number: 7,
            expiresAtSeconds: now + 600,
            audience: audience
        )
    }

    /// The token with a signature that nobody made, of the right length.
    private func unsigned(_ text: String) throws -> String {
        text.prefix(through: try #require(text.lastIndex(of: "."))) + String(repeating: "A", count: 86)
    }

    private func expectRefused(_ text: String, _ comment: Comment? = nil, by other: TokenIssuer? = nil) {
        #expect(throws: IdentityError.accessTokenInvalid, comment) { try (other ?? issuer).verifiedAccessClaims(text) }
    }

    @Test func `The claim alone lets a token of ours in, and another's does not`() throws {
        let text = try token()
        #expect(try issuer.verifiedAccessClaims(text) == claims)
        #expect(try issuer.verifiedAccessClaims(unsigned(text)) == claims)
        expectRefused(try unsigned(token(try Self.issuer(key, [SecureRandom.bytes(32)]))))
    }

    @Test func `Without the claim or by another key than the current one the signature decides`() throws {
        let text = try token()
        // One that was replaced makes no access tokens that are believed, though refresh tokens of it are good for months; nor
        // does the next one, which other replicas may use already.
        let next = try Self.issuer(key, [SecureRandom.bytes(32), refreshKey])
        #expect(try next.verifiedAccessClaims(text) == claims)
        expectRefused(try unsigned(text), by: next)
        let later = try Self.issuer(key, [SecureRandom.bytes(32)])
        #expect(try later.verifiedAccessClaims(text) == claims)
        expectRefused(try unsigned(text), by: later)

        var payload = try JSONObject(parsing: CompactJWS(parsing: text).verifiedPayload(with: key.verificationKey))
        payload["mac"] = nil
        let before = try key.signedToken(claims: payload, type: "at+jwt")
        #expect(try issuer.verifiedAccessClaims(before) == claims)
        expectRefused(try unsigned(before))
        payload["num"] = nil
        #expect(try issuer.verifiedAccessClaims(key.signedToken(claims: payload, type: "at+jwt")).number == nil)
    }

    @Test func `A signing key that is published no more takes its tokens with it`() throws {
        let text = try token()
        let next = try SigningKey.generateP256()
        let overlapping = try Self.issuer(next, [refreshKey], otherKeys: [key.verificationKey])
        #expect(try overlapping.verifiedAccessClaims(unsigned(text)) == claims)
        expectRefused(text, by: try Self.issuer(next, [refreshKey]))
    }

    @Test func `Another issuer's or audience's token is refused under the same keys`() throws {
        expectRefused(try token(try Self.issuer(key, [refreshKey], audience: "another")))
        let other = TokenIssuer(
            issuer: "https://other.example.com",
            audience: "vestibule",
            lifetimeSeconds: 600,
            signingKey: key,
            refreshKeys: try #require(RefreshKeys([refreshKey]))
        )
        expectRefused(try token(other))
    }

    @Test func `An ID token has no such claim`() throws {
        let text = try issuer.idToken(for: session, nowSeconds: now)
        let payload = try JSONObject(parsing: CompactJWS(parsing: text).verifiedPayload(with: key.verificationKey))
        #expect(payload["mac"] == nil)
        expectRefused(text)
    }

    @Test func `A change of any byte of header or payload is refused, and of the signature only what is no base64url`()
        throws
    {
        let text = Array(try token().utf8)
        let lastDot = try #require(text.lastIndex(of: UInt8(ascii: ".")))
        for position in text.indices {
            for bit in 0..<8 {
                var changed = text
                changed[position] ^= 1 << bit
                // A text that is no UTF-8 can't be written down as one.
                guard let changed = String(validating: changed, as: UTF8.self) else { continue }
                let isStillText = Base64URL.decode(changed.utf8.dropFirst(lastDot + 1).map { $0 }.asText)?.count == 64
                if position > lastDot, isStillText {
                    #expect(try issuer.verifiedAccessClaims(changed) == claims)
                } else {
                    expectRefused(changed, "bit \(bit) of byte \(position)")
                }
            }
        }
    }

    @Test func `Every part of a token, and every token with something more, is refused`() throws {
        let text = try token()
        for count in 0..<text.count {
            expectRefused(String(text.prefix(count)))
            expectRefused(String(text.dropFirst(count + 1)))
        }
        for more in ["A", ".", "=", " ", "\n", "\0", ".A", String(repeating: "A", count: 5000)] {
            expectRefused(text + more)
            expectRefused(more + text)
        }
    }

    @Test func `A claim that stands elsewhere, or beside another, is refused`() throws {
        let text = try unsigned(token())
        let parts = text.split(separator: ".")
        let payload = String(decoding: try #require(Base64URL.decode(parts[1])), as: UTF8.self)
        let cut = try #require(payload.firstRange(of: #","mac":""#))
        let content = payload[..<cut.lowerBound].dropFirst()
        let claim = payload[payload.index(after: cut.lowerBound)...].dropLast()
        let (name, value) = (#""mac""#, claim.dropFirst(6))
        let other = #""mac":"AAAAAAAAAAAAAAAAAAAAAA""#
        #expect(payload == "{\(content),\(claim)}")
        let texts = [
            "{\(claim),\(content)}", "{\(content),\(claim),\(claim)}", "{\(content),\(other),\(claim)}",
            "{\(content),\(claim),\(other)}", "{\(claim),\(content),\(claim)}", "{\(content),\"x\":{\(claim)}}",
            "{\"x\":{\(content),\(claim)}}", "{\(content),\"x\":[{\(claim)}]}", "[{\(content),\(claim)}]",
            #"{\#(content),"\u006dac":\#(value)}"#, #"{\#(content),"ma\u0063":\#(value)}"#,
            #"{\#(content),"MAC":\#(value)}"#,
            "{\(content), \(claim)}", "{\(content),\(name) :\(value)}", "{\(content),\(name): \(value)}",
            "{\(content),\(claim) }", "{\(content),\(claim)} ", " {\(content),\(claim)}", "{\(content),\(claim)}}",
            "{\(content)\(claim)}", "{\(content),\(claim.dropLast())}", "{\(content)}",
            #"{\#(content),"sub":"\#(UserID(high: 9, low: 9))",\#(claim)}"#,
            #"{"sub":"\#(UserID(high: 9, low: 9))",\#(content),\#(claim)}"#,
            "{\(content.replacing("vestibule", with: "vestibulf")),\(claim)}",
            #"{\#(content),"mac":"\#(Base64URL.encode([UInt8](repeating: 0, count: 15)))"}"#,
            #"{\#(content),"mac":""}"#, #"{\#(content),"mac":null}"#, "{\(claim)}", "{,\(claim)}", "",
        ]
        for changed in texts {
            expectRefused("\(parts[0]).\(Base64URL.encode(changed.utf8)).\(parts[2])", "\(changed)")
        }
        // The same bytes go on to be known, so that it was the change that was refused.
        #expect(try issuer.verifiedAccessClaims("\(parts[0]).\(Base64URL.encode(payload.utf8)).\(parts[2])") == claims)
    }

    @Test func `The payload is read as a parser reads it`() throws {
        let payloads = AccessTokenPayloads(issuer: "https://id.example.com", audience: "vestibule")
        let text = try token()
        let payload = try CompactJWS(parsing: text).verifiedPayload(with: key.verificationKey)
        func read(_ bytes: [UInt8]) -> (AccessClaims?, AccessClaims?) {
            bytes.withUnsafeBufferPointer { (payloads.claimsAsWeWrite($0), payloads.parsedClaims($0)) }
        }
        #expect(read(payload) == (claims, claims), "what we write is read without the parser")
        var readCount = 0
        for position in payload.indices {
            for byte in Array("\"\\,:{}[]-+.0159 eé\n\0".utf8) + [0x1f, 0x7f, 0xff] {
                var changed = payload
                changed[position] = byte
                let (quick, parsed) = read(changed)
                if quick != nil {
                    readCount += 1
                    #expect(quick == parsed, "byte \(byte) at \(position)")
                }
            }
            #expect(read(Array(payload[..<position])).0 == nil)
            #expect(read(payload + payload[..<position]).0 == nil || position == 0)
        }
        #expect(readCount > payload.count)
    }

    @Test(arguments: ["an \"audience\"", "a\\b", "ümlaut", "\u{1}"])
    func `Names that are written with escapes or beyond ASCII are ours as well`(name: String) throws {
        let issuer = try Self.issuer(key, [refreshKey], audience: name)
        let facts = SessionFacts(
            userID: session.userID,
            sessionID: session.sessionID,
            provider: .apple,
            clientID: name,
            signedInAtSeconds: now,
            proof: .nonce
        )
        let text = try issuer.accessToken(for: facts, number: 7, tokenID: name, nowSeconds: now)
        #expect(try issuer.verifiedAccessClaims(unsigned(text)) == claims(audience: name))
    }

    @Test func `A token has one place in the cache, whatever its signature`() throws {
        var cache = VerifiedTokenCache<AccessClaims>(capacity: 10)
        let text = try token()
        cache.insert(claims, for: text)
        let other = try unsigned(text)
        #expect(cache.value(of: other) == nil, "another text was not verified yet")
        cache.insert(claims, for: other)
        #expect(cache.count == 1)
        #expect(cache.value(of: other) == claims)
        #expect(cache.value(of: text) == nil)
        for number in 0..<100 {
            let signature = Base64URL.encode(SecureRandom.bytes(60) + [0, 0, 0, UInt8(number)])
            cache.insert(claims, for: text.prefix(through: try #require(text.lastIndex(of: "."))) + signature)
        }
        #expect(cache.count == 1)
    }
}

extension [UInt8] {
    fileprivate var asText: String { String(decoding: self, as: UTF8.self) }
}
