import JOSE
import Testing

@testable import DPoP

/// Each check of a proof, by a proof that fails in nothing else.
struct RefusalTests {
    private static func verify(
        _ text: String,
        _ request: DPoPVerifier.Request = Example.request,
        by verifier: DPoPVerifier = Example.verifier
    ) throws(DPoPError) -> DPoPProof {
        try verifier.verify(text, of: request, now: Example.now)
    }

    private static func jwk(_ changes: [String: JSONValue?]) -> JSONValue {
        var jwk = Example.key.verificationKey.requiredJWKMembers
        for (name, value) in changes { jwk[name] = value }
        return .object(jwk)
    }

    @Test func `A proof with nothing wrong is accepted`() throws {
        let proof = try Self.verify(Example.proof())
        #expect(proof.thumbprint.text == Example.key.keyID)
    }

    @Test(
        arguments: [
            (["typ": nil], .wrongType), (["typ": "JWT"], .wrongType), (["typ": "DPOP+jwt"], .wrongType),
            (["typ": "application/dpop+jwt"], .wrongType), (["typ": 1], .wrongType),
            (["typ": "dpop+jwt\u{301}"], .wrongType),
            (["alg": nil], .unsupportedAlgorithm), (["alg": "none"], .unsupportedAlgorithm),
            (["alg": "HS256"], .unsupportedAlgorithm), (["alg": "RS256"], .unsupportedAlgorithm),
            (["alg": "PS256"], .unsupportedAlgorithm), (["alg": "ES384"], .unsupportedAlgorithm),
            (["alg": "es256"], .unsupportedAlgorithm), (["alg": 1], .unsupportedAlgorithm),
            (["alg": "EdDSA"], .badKey), (["alg": "Ed25519"], .badKey),
            (["crit": ["exp"]], .criticalExtension), (["crit": []], .criticalExtension),
            (["b64": false], .criticalExtension),
            (["jwk": nil], .badKey), (["jwk": "key"], .badKey), (["jwk": [:]], .badKey),
            (["jku": "https://a.example/k"], .badKey), (["x5u": "https://a.example/k"], .badKey),
            (["x5c": []], .badKey),
        ] as [([String: JSONValue?], DPoPError)]
    )
    func `A header at fault is refused`(header: [String: JSONValue?], error: DPoPError) throws {
        let text = try Example.proof(header: header)
        #expect(throws: error) { try Self.verify(text) }
    }

    @Test(arguments: ["d", "p", "q", "dp", "dq", "qi", "oth", "k"])
    func `A key with a private member is refused, whatever its value is`(name: String) throws {
        for value: JSONValue in ["AAAA", .null] {
            let text = try Example.proof(header: ["jwk": Self.jwk([name: value])])
            #expect(throws: DPoPError.privateKey) { try Self.verify(text) }
        }
    }

    @Test(
        arguments: [
            (["kty": "oct"], .privateKey), (["kty": nil], .badKey), (["kty": "RSA"], .badKey),
            (["kty": "OKP"], .badKey),
            (["crv": nil], .badKey), (["crv": "P-384"], .badKey), (["crv": "secp256k1"], .badKey),
            (["x": nil], .badKey),
            (["y": nil], .badKey), (["y": "AAAA"], .badKey), (["x": 1], .badKey),
            (["x": .string(Base64URL.encode([UInt8](repeating: 0, count: 32)))], .badKey),
            (["alg": "ES384"], .badKey), (["alg": 1], .badKey), (["use": "enc"], .badKey),
            (["key_ops": ["sign"]], .badKey),
            (["key_ops": "verify"], .badKey),
        ] as [([String: JSONValue?], DPoPError)]
    )
    func `A key at fault is refused`(changes: [String: JSONValue?], error: DPoPError) throws {
        let text = try Example.proof(header: ["jwk": Self.jwk(changes)])
        #expect(throws: error) { try Self.verify(text) }
    }

    /// The base point of P-384 (FIPS 186-4, D.1.2.4), which is a key that JOSE reads.
    @Test func `A key of another curve is refused before its signature`() throws {
        let jwk: JSONObject = [
            "kty": "EC", "crv": "P-384", "x": "qofKIr6LBTeOscce8yCtdG4dO2KLp5uYWfdB4IJUKjhVAvJdv1UpbDpUXjhydgq3",
            "y": "NhfeSpYmLG9dnpi_kpLcKfj0Hb0omhR86doxE7XwuMAKYLHOHX6BnXpDHXyQ6g5f",
        ]
        #expect(try VerificationKey(jwk: jwk).type == .p384)
        let text = try Example.proof(header: ["jwk": .object(jwk)])
        #expect(throws: DPoPError.badKey) { try Self.verify(text) }
    }

    @Test func `A key may say that it is for signatures of this algorithm`() throws {
        let jwk = Self.jwk(["alg": "ES256", "use": "sig", "key_ops": ["verify"], "ext": true, "kid": "a"])
        #expect(try Self.verify(Example.proof(header: ["jwk": jwk])).thumbprint.text == Example.key.keyID)
    }

    @Test(
        arguments: [
            (["jti": nil], .malformed), (["jti": ""], .malformed), (["jti": 1], .malformed),
            (["jti": .string(String(repeating: "a", count: 129))], .malformed),
            (["htm": nil], .malformed), (["htm": ["POST"]], .malformed), (["htm": "GET"], .wrongMethod),
            (["htm": "post"], .wrongMethod), (["htm": ""], .wrongMethod), (["htm": "POST\u{301}"], .wrongMethod),
            (["htu": nil], .malformed), (["htu": .null], .malformed), (["htu": ""], .wrongTarget),
            (["htu": "/v1/me"], .wrongTarget), (["htu": "https://api.example.org"], .wrongTarget),
            (["htu": "https://api.example.org/v1/me/"], .wrongTarget),
            (["htu": "http://api.example.org/v1/me"], .wrongTarget),
            (["htu": "https://api.example.org:444/v1/me"], .wrongTarget),
            (["htu": "https://api.example.org.evil.example/v1/me"], .wrongTarget),
            (["htu": "https://api.example.org@evil.example/v1/me"], .wrongTarget),
            (["iat": nil], .malformed), (["iat": "1795910400"], .malformed), (["iat": true], .malformed),
            (["iat": .number(literal: "1.7959104e9")], .malformed), (["iat": .number(literal: "1e400")], .malformed),
            (["iat": .integer(.max)], .fromFuture), (["iat": .integer(.min)], .tooOld), (["iat": 0], .tooOld),
            (["iat": 1_795_910_339], .tooOld), (["iat": 1_795_910_411], .fromFuture),
            (["iat": .number(literal: "1795910339.999")], .tooOld),
            (["exp": 1_795_910_400], .tooOld), (["exp": "1"], .malformed), (["exp": .integer(.min)], .tooOld),
            (["nbf": 1_795_910_411], .fromFuture), (["nbf": .null], .malformed), (["nbf": .integer(.max)], .fromFuture),
            (["ath": 1], .malformed), (["nonce": 1], .malformed), (["nonce": .null], .malformed),
            (["nonce": ""], .badNonce), (["nonce": "abc"], .badNonce),
        ] as [([String: JSONValue?], DPoPError)]
    )
    func `Claims at fault are refused`(claims: [String: JSONValue?], error: DPoPError) throws {
        let text = try Example.proof(claims: claims)
        #expect(throws: error) { try Self.verify(text) }
    }

    @Test(
        arguments: [
            ["jti": .string(String(repeating: "a", count: 128))], ["jti": "\u{e9}"], ["iat": 1_795_910_340],
            ["iat": 1_795_910_410], ["iat": .number(literal: "1795910400.5")], ["exp": 1_795_910_401],
            ["nbf": 1_795_910_410], ["htu": "HTTPS://API.example.org:443/v1/./%6De?a=b#c"], ["other": ["a": [1]]],
            ["ath": "of a token that the request doesn't have"],
        ] as [[String: JSONValue?]]
    )
    func `Claims at their bounds, and others, are accepted`(claims: [String: JSONValue?]) throws {
        _ = try Self.verify(Example.proof(claims: claims))
    }

    @Test func `What is no JWS of two JSON objects is refused`() throws {
        let good = try Example.proof()
        let parts = good.split(separator: ".").map(String.init)
        let (header, claims, signature) = (parts[0], parts[1], parts[2])
        for text in [
            "", ".", "..", "a.b.c", good + ".", "." + good, good + "=", " " + good, good + "\n", header + "." + claims,
            good + "," + good, header + ".." + signature, "." + claims + "." + signature,
            "\u{e9}." + claims + "." + signature,
        ] {
            #expect(throws: DPoPError.malformed) { try Self.verify(text) }
        }
        for part in ["", "[]", "1", "null", "{", "{}{}", "\u{feff}{}"] {
            let bytes = Array(part.utf8)
            let texts = try [Example.signed(headerText: bytes), Example.signed(claimsText: bytes)]
            for text in texts { #expect(throws: DPoPError.malformed) { try Self.verify(text) } }
        }
    }

    @Test func `A member that appears twice is refused, at each depth`() throws {
        let header = String(decoding: Example.header.serialized(), as: UTF8.self)
        let claims = String(decoding: Example.claims.serialized(), as: UTF8.self)
        for text in [
            try Example.signed(headerText: Array(header.replacing("{\"typ\"", with: #"{"alg":"ES256","typ""#).utf8)),
            try Example.signed(headerText: Array(header.replacing("{\"crv\"", with: #"{"kty":"EC","crv""#).utf8)),
            try Example.signed(claimsText: Array(claims.replacing("{\"jti\"", with: #"{"htm":"POST","jti""#).utf8)),
            try Example.signed(claimsText: Array(claims.replacing("{\"jti\"", with: #"{"\u006ati":"a","jti""#).utf8)),
        ] {
            #expect(throws: DPoPError.malformed) { try Self.verify(text) }
        }
    }

    @Test func `A proof has a longest length`() throws {
        let empty = try Example.proof(claims: ["pad": ""])
        // Three bytes of a claim make four characters.
        let room = (DPoPVerifier.proofBytesMax - empty.utf8.count) / 4 * 3
        let long = try Example.proof(claims: ["pad": .string(String(repeating: "a", count: room - 3))])
        #expect(long.utf8.count <= DPoPVerifier.proofBytesMax && long.utf8.count > DPoPVerifier.proofBytesMax - 9)
        _ = try Self.verify(long)
        let longer = try Example.proof(claims: ["pad": .string(String(repeating: "a", count: room + 6))])
        #expect(throws: DPoPError.tooLarge) { try Self.verify(longer) }
    }

    @Test func `Only the signature of the key in the header is accepted`() throws {
        let other = try SigningKey.generateP256()
        let good = try Example.proof()
        let input = good.prefix(upTo: try #require(good.lastIndex(of: ".")))
        let signatures = [
            try other.sign(Array(input.utf8)), try Example.key.sign(Array("\(input)=".utf8)), [], [0],
            [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xff, count: 64),
            [UInt8](repeating: 0, count: 63), [UInt8](repeating: 1, count: 65),
        ]
        for signature in signatures {
            #expect(throws: DPoPError.badSignature) { try Self.verify("\(input)." + Base64URL.encode(signature)) }
        }
        let otherJWK = JSONValue.object(other.verificationKey.requiredJWKMembers)
        let text = try Example.proof(header: ["jwk": otherJWK])
        #expect(throws: DPoPError.badSignature) { try Self.verify(text) }
    }

    @Test func `An access token needs its own hash`() throws {
        var request = Example.request
        request.accessToken = Example.token
        let hash = Base64URL.encode(SHA256.hash(Example.token))
        _ = try Self.verify(Example.proof(claims: ["ath": .string(hash)]), request)
        let wrong: [JSONValue?] = [
            nil, "", .string(hash + "="), .string(String(hash.dropLast())), .string(Example.token),
            .string(Base64URL.encode(SHA256.hash(Example.token + "x"))),
        ]
        for ath in wrong {
            let text = try Example.proof(claims: ["ath": ath])
            #expect(throws: DPoPError.wrongAccessToken) { try Self.verify(text, request) }
        }
    }

    @Test func `A bound key must be the proof's`() throws {
        var request = Example.request
        request.thumbprint = Example.key.verificationKey.jwkThumbprint
        _ = try Self.verify(Example.proof(), request)
        request.thumbprint = try SigningKey.generateP256().verificationKey.jwkThumbprint
        #expect(throws: DPoPError.wrongKey) { try Self.verify(Example.proof(), request) }
    }

    @Test func `A request without a URI has no proof`() throws {
        let request = DPoPVerifier.Request(method: "POST", target: nil)
        #expect(throws: DPoPError.wrongTarget) { try Self.verify(Example.proof(), request) }
    }

    @Test func `A good nonce says when, and no iat does`() throws {
        let nonce = JSONValue.string(Example.nonces.current(monotonicSeconds: Example.now.monotonicSeconds))
        for iat in [0, Int64.min, .max] {
            let text = try Example.proof(claims: ["nonce": nonce, "iat": .integer(iat)])
            #expect(try Self.verify(text, by: Example.strictVerifier).hasNonce)
            #expect(try Self.verify(text).hasNonce)
        }
        #expect(throws: DPoPError.missingNonce) { try Self.verify(Example.proof(), by: Example.strictVerifier) }
        let old = Example.nonces.current(monotonicSeconds: Example.now.monotonicSeconds - DPoPNonces.lifetimeSeconds)
        for verifier in [Example.verifier, Example.strictVerifier] {
            #expect(throws: DPoPError.badNonce) {
                try Self.verify(Example.proof(claims: ["nonce": .string(old)]), by: verifier)
            }
        }
    }

    @Test func `Only what is wrong with a nonce asks for another one`() {
        #expect(DPoPError.allCases.filter { $0.code == .useNonce } == [.missingNonce, .badNonce])
        #expect(DPoPError.badSignature.code.rawValue == "invalid_dpop_proof")
        #expect(DPoPError.Code.useNonce.rawValue == "use_dpop_nonce")
        #expect(DPoPAlgorithm.allNames == ["ES256", "EdDSA", "Ed25519"])
    }
}
