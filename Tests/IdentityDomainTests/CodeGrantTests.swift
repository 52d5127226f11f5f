import IdentityDomain
import JOSE
import Testing

struct CodeGrantTests {
    @Test func `No two grants are known by the same hash`() throws {
        let grants = [
            try Self.grant(), try Self.grant(provider: .google), try Self.grant(clientID: "b"),
            try Self.grant(code: "d"), try Self.grant(redirectURI: "e"), try Self.grant(codeVerifier: "e"),
            // The same characters, elsewhere.
            try Self.grant(clientID: "ac", code: "c"), try Self.grant(clientID: "a", code: "cc"),
        ]
        #expect(Set(grants.map(\.hash)).count == grants.count)
        #expect(try Self.grant().hash == Self.grant().hash)
    }

    @Test func `A grant can't open what another grant sealed`() throws {
        let sealed = try Self.grant(codeVerifier: "v").seal([1, 2])
        #expect(try Self.grant(codeVerifier: "v").open(sealed) == [1, 2])
        #expect(try Self.grant().open(sealed) == nil)
    }

    @Test func `A client secret names the team, the key and the app, for five minutes`() throws {
        let key = try SigningKey.generateP256(keyID: "ours")
        let secret = try AppleClientSecret.mint(
            clientID: "com.example.app",
            teamID: "ABCDE12345",
            keyID: "KEY1234567",
            key: key,
            nowSeconds: 1_800_000_000
        )
        let jws = try CompactJWS(parsing: secret)
        #expect(jws.algorithm == .es256)
        #expect(jws.keyID == "KEY1234567")
        let claims = try JSONObject(parsing: jws.verifiedPayload(with: key.verificationKey))
        #expect(
            claims == [
                "iss": "ABCDE12345", "sub": "com.example.app", "aud": "https://appleid.apple.com", "iat": 1_800_000_000,
                "exp": 1_800_000_300,
            ]
        )
        let rsa = try SigningKey.generateRSA2048()
        #expect(throws: KeyError.unsupported) {
            try AppleClientSecret.mint(clientID: "a", teamID: "b", keyID: "c", key: rsa, nowSeconds: 0)
        }
    }

    private static func grant(
        provider: ProviderName = .apple,
        clientID: String = "a",
        code: String = "c",
        redirectURI: String = "",
        codeVerifier: String = ""
    ) throws -> CodeGrant {
        try #require(
            CodeGrant(
                provider: provider,
                clientID: clientID,
                code: code,
                redirectURI: redirectURI,
                codeVerifier: codeVerifier
            )
        )
    }
}
