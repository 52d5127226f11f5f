import JOSE
import Testing

/// The examples of the RFCs, so that our reading of them is checked against others'.
struct VectorTests {
    static let payload = """
        eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ
        """

    @Test func `Verifies RFC 7515, appendix A.2: RS256`() throws {
        let n =
            "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd"
            + "2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7"
            + "WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkML"
            + "s91kzk2PAcDTW9gb54h4FRWyuXpoQ"
        let signature =
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF"
            + "9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383L"
            + "cOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWyw"
            + "lVmtVrBp0igcN_IoypGlUPQGe77Rw"
        let key = try VerificationKey(jwk: ["kty": "RSA", "n": .string(n), "e": "AQAB"])
        let jws = try CompactJWS(parsing: "eyJhbGciOiJSUzI1NiJ9." + Self.payload + "." + signature)
        #expect(jws.algorithm == .rs256)
        #expect(jws.keyID == nil)
        let claims = try JSONObject(parsing: jws.verifiedPayload(with: key))
        #expect(claims["iss"] == "joe")
        #expect(claims["exp"]?.numericDateSeconds == 1_300_819_380)
        #expect(claims["http://example.com/is_root"] == true)
    }

    @Test func `Verifies RFC 7515, appendix A.3: ES256`() throws {
        let key = try VerificationKey(jwk: [
            "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        ])
        let signature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        let jws = try CompactJWS(parsing: "eyJhbGciOiJFUzI1NiJ9." + Self.payload + "." + signature)
        #expect(jws.algorithm == .es256)
        #expect(try JSONObject(parsing: jws.verifiedPayload(with: key))["iss"] == "joe")
    }

    @Test func `Makes the thumbprint of RFC 7638, section 3.1`() throws {
        let n =
            "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV"
            + "4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c"
            + "7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1j"
            + "F44-csFCur-kEgU8awapJzKnqDKgw"
        let key = try VerificationKey(jwk: ["kty": "RSA", "n": .string(n), "e": "AQAB", "alg": "RS256"])
        #expect(key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    @Test func `Makes SHA-256 of FIPS 180-4 and HMAC of RFC 4231`() {
        #expect(
            Hex.encode(SHA256.hash("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        #expect(Hex.encode(SHA256.hash("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        let code = SHA256.authenticationCode(
            of: Array("what do ya want for nothing?".utf8),
            key: Array("Jefe".utf8)
        )
        #expect(Hex.encode(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }
}
