import JOSE
import Testing
import WebAuthn

struct OptionsTests {
    @Test func `The options of a registration name all that clients need`() throws {
        let user = try #require(UserEntity(id: Example.userHandle, name: "a\"b", displayName: "A"))
        let options = try JSONObject(
            parsing: Example.relyingParty(.preferred).creationOptions(
                name: "Example",
                user: user,
                challenge: Example.challenge,
                timeoutMilliseconds: .max
            )
        )
        let expected: JSONObject = [
            "rp": ["id": "example.com", "name": "Example"],
            "user": ["id": .string(Base64URL.encode(Example.userHandle)), "name": "a\"b", "displayName": "A"],
            "challenge": .string(Base64URL.encode(Example.challenge)),
            "pubKeyCredParams": [
                ["type": "public-key", "alg": -7], ["type": "public-key", "alg": -8],
                ["type": "public-key", "alg": -257],
            ],
            "timeout": 4_294_967_295, "excludeCredentials": [],
            "authenticatorSelection": [
                "residentKey": "required", "requireResidentKey": true, "userVerification": "preferred",
            ],
            "attestation": "none", "extensions": ["credProps": true],
        ]
        #expect(options == expected)
    }

    @Test func `The options of a sign-in may leave the passkey to the user`() throws {
        let relyingParty = try Example.relyingParty()
        let open = relyingParty.requestOptions(challenge: Example.challenge, timeoutMilliseconds: 1)
        let expected: JSONObject = [
            "challenge": .string(Base64URL.encode(Example.challenge)), "timeout": 1, "rpId": "example.com",
            "allowCredentials": [], "userVerification": "required",
        ]
        #expect(try JSONObject(parsing: open) == expected)
        let named = relyingParty.requestOptions(
            challenge: Example.challenge,
            timeoutMilliseconds: 1,
            allowed: [CredentialDescriptor(id: [1]), CredentialDescriptor(id: [2], transports: ["usb"])]
        )
        let allowed: JSONValue = [
            ["id": "AQ", "type": "public-key"], ["id": "Ag", "type": "public-key", "transports": ["usb"]],
        ]
        #expect(try JSONObject(parsing: named)["allowCredentials"] == allowed)
    }

    @Test func `A user handle has 1 to 64 bytes`() {
        for (count, isAccepted) in [(0, false), (1, true), (64, true), (65, false)] {
            let id = [UInt8](repeating: 0, count: count)
            #expect((UserEntity(id: id, name: "", displayName: "") != nil) == isAccepted)
        }
    }
}
