import JOSE
import Testing

struct JWKThumbprintTests {
    /// RFC 7638 section 3.1; the members that aren't required, and their order, make no difference.
    @Test func `The thumbprint of an RSA key is the published one`() throws {
        let jwk: JSONObject = [
            "kty": "RSA",
            "n": .string(
                "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4"
                    + "n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7"
                    + "d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF"
                    + "44-csFCur-kEgU8awapJzKnqDKgw"
            ),
            "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
        ]
        let key = try VerificationKey(jwk: jwk)
        #expect(key.jwkThumbprint.text == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        #expect(key.thumbprint == key.jwkThumbprint.text)
    }

    /// RFC 8037 appendix A.3.
    @Test func `The thumbprint of an Ed25519 key is the published one`() throws {
        let jwk: JSONObject = ["kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"]
        let key = try Ed25519Key(jwk: jwk)
        #expect(key.jwkThumbprint.text == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
        #expect(key.requiredJWKMembers["x"] == jwk["x"])
    }

    /// RFC 9449 section 6.1.
    @Test func `The thumbprint of a P-256 key is the published one`() throws {
        let key = try VerificationKey(jwk: [
            "kty": "EC", "crv": "P-256", "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
            "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
        ])
        #expect("\(key.jwkThumbprint)" == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        #expect(key.jwkThumbprint == JWKThumbprint("0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"))
    }

    @Test(arguments: [
        "", "AAAA", "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4", "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I=",
        "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4J", "0ZcOCORZNYy+DWpqq30jZyJGHTN0d2HglBV3uiguA4I",
        "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4IA",
    ])
    func `A text that is no thumbprint has no value`(text: String) {
        #expect(JWKThumbprint(text) == nil)
    }

    @Test(
        arguments: [
            (["kty": "OKP", "crv": "Ed448", "x": "AAAA"], .unsupported),
            (["kty": "EC", "crv": "Ed25519"], .unsupported),
            (["crv": "Ed25519", "x": "AAAA"], .unsupported), (["kty": "OKP", "crv": "Ed25519"], .malformed),
            (["kty": "OKP", "crv": "Ed25519", "x": "AAAA"], .malformed),
            (["kty": "OKP", "crv": "Ed25519", "x": 1], .malformed),
            (["kty": "OKP", "crv": "Ed25519", "x": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"], .malformed),
        ] as [(JSONObject, KeyError)]
    )
    func `What is no Ed25519 key in a JWK is refused`(jwk: JSONObject, error: KeyError) {
        #expect(throws: error) { try Ed25519Key(jwk: jwk) }
    }
}
