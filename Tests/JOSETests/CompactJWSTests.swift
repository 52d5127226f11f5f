import JOSE
import Testing

struct CompactJWSTests {
    @Test func `A signed token is parsed and verified`() throws {
        let key = try SigningKey.generateP256()
        let token = try key.signedToken(claims: ["sub": "é"], type: "at+jwt")
        let jws = try CompactJWS(parsing: token)
        #expect(jws.keyID == key.keyID)
        #expect(jws.type == "at+jwt")
        #expect(try JSONObject(parsing: jws.verifiedPayload(with: key.verificationKey)) == ["sub": "é"])
    }

    @Test func `Another key or any change is refused`() throws {
        let key = try SigningKey.generateP256()
        let token = try key.signedToken(claims: ["sub": "a"])
        let other = try SigningKey.generateP256(keyID: key.keyID)
        #expect(throws: JWSError.badSignature) {
            try CompactJWS(parsing: token).verifiedPayload(with: other.verificationKey)
        }
        let rsa = try SigningKey.generateRSA2048()
        #expect(throws: JWSError.badSignature) {
            try CompactJWS(parsing: token).verifiedPayload(with: rsa.verificationKey)
        }
        let bytes = Array(token.utf8)
        for index in bytes.indices {
            var tampered = bytes
            tampered[index] = bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(throws: JWSError.self) {
                try CompactJWS(parsing: String(decoding: tampered, as: UTF8.self))
                    .verifiedPayload(with: key.verificationKey)
            }
        }
    }

    @Test(arguments: [
        (#"{"alg":"none"}"#, JWSError.unsigned), (#"{"alg":"NoNe"}"#, .unsigned),
        (#"{"alg":"HS256"}"#, .unsupportedAlgorithm), (#"{"alg":"es256"}"#, .unsupportedAlgorithm),
        (#"{"alg":"ES512"}"#, .unsupportedAlgorithm), (#"{"alg":1}"#, .malformed), (#"{}"#, .malformed),
        (#"{"alg":"ES256","crit":["exp"]}"#, .criticalExtension), (#"{"alg":"ES256","crit":[]}"#, .criticalExtension),
        (#"{"alg":"ES256","b64":false}"#, .criticalExtension),
        (#"{"alg":"ES256","jwk":{}}"#, .embeddedKey), (#"{"alg":"ES256","jku":"https://a.example/k"}"#, .embeddedKey),
        (#"{"alg":"ES256","x5u":"https://a.example/k"}"#, .embeddedKey), (#"{"alg":"ES256","x5c":[]}"#, .embeddedKey),
        (#"{"alg":"ES256","alg":"ES256"}"#, .malformed), (#"{"alg":"ES256","kid":1}"#, .malformed),
        (#"{"alg":"ES256","typ":[]}"#, .malformed), (#"["alg"]"#, .malformed), ("", .malformed), ("{", .malformed),
    ])
    func `Refuses a header at fault`(header: String, error: JWSError) {
        let token = Base64URL.encode(header.utf8) + ".e30.AAAA"
        #expect(throws: error) { try CompactJWS(parsing: token) }
    }

    @Test func `Refuses what has not three parts of base64url`() throws {
        let header = Base64URL.encode(#"{"alg":"ES256"}"#.utf8)
        for token in [
            "", "a", "a.b", "a.b.c", header + ".e30", header + ".e30.AAAA.AAAA", header + ".e3 0.AAAA",
            header + ".e30.AAAA=", " " + header + ".e30.AAAA", header + ".e30.AAAA\n", "é.e30.AAAA",
        ] {
            #expect(throws: JWSError.malformed) { try CompactJWS(parsing: token) }
        }
        #expect(throws: JWSError.unsigned) { try CompactJWS(parsing: header + ".e30.") }
        let long = String(repeating: "A", count: CompactJWS.defaultBytesMax)
        #expect(throws: JWSError.tooLarge) { try CompactJWS(parsing: header + "." + long + ".AAAA") }
        let longID = Base64URL.encode(#"{"alg":"ES256","kid":"\#(String(repeating: "k", count: 257))"}"#.utf8)
        #expect(throws: JWSError.malformed) { try CompactJWS(parsing: longID + ".e30.AAAA") }
    }

    /// The classic confusion: a symmetric signature made with the public key's text (RFC 8725 section 2.1).
    @Test func `A public key taken as a secret is refused`() throws {
        let key = try SigningKey.generateRSA2048()
        let input = Base64URL.encode(#"{"alg":"HS256","kid":"\#(key.keyID)"}"#.utf8) + ".e30"
        let code = SHA256.authenticationCode(of: Array(input.utf8), key: key.publicJWK.serialized())
        #expect(throws: JWSError.unsupportedAlgorithm) {
            try CompactJWS(parsing: input + "." + Base64URL.encode(code))
        }
    }
}
