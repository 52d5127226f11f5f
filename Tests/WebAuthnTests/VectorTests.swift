import JOSE
import Testing
import WebAuthn

/// What two other implementations made and judged, and the examples of WebAuthn Level 3, section 16.
struct VectorTests {
    private static let errors: [String: WebAuthnError] = [
        "wrongType": .wrongType, "wrongChallenge": .wrongChallenge, "wrongOrigin": .wrongOrigin,
        "wrongRelyingParty": .wrongRelyingParty, "userNotPresent": .userNotPresent, "userNotVerified": .userNotVerified,
        "backupStateImpossible": .backupStateImpossible, "badSignature": .badSignature, "crossOrigin": .crossOrigin,
    ]

    /// Expects the vector's error, and returns nil; or returns what the body does.
    private static func judge<Value>(_ vector: JSONObject, _ body: () throws -> Value) throws -> Value? {
        guard let name = vector["error"]?.string else { return try body() }
        let error = try #require(errors[name])
        #expect(throws: error, "\(vector["name"] ?? .null)") { try body() }
        return nil
    }

    @Test func `Registrations are judged as others judge them`() throws {
        var accepted = 0
        for vector in try Vectors.all("registrations") {
            let relyingParty = try Vectors.relyingParty(of: vector)
            let text = try #require(vector["response"]?.object).serialized()
            let passkey = try Self.judge(vector) {
                try relyingParty.register(
                    RegistrationResponse(parsing: text),
                    challenge: Vectors.bytes(vector["challenge"])
                )
            }
            guard let passkey else { continue }
            accepted += 1
            let expected = try #require(vector["passkey"]?.object)
            let found: JSONObject = [
                "credentialID": .string(Base64URL.encode(passkey.credentialID)),
                "publicKey": .string(Base64URL.encode(passkey.publicKey)),
                "algorithm": .integer(passkey.algorithm.rawValue), "signCount": .integer(Int64(passkey.signCount)),
                "aaguid": .string(Base64URL.encode(passkey.aaguid)),
                "isBackupEligible": .bool(passkey.isBackupEligible), "isBackedUp": .bool(passkey.isBackedUp),
                "isUserVerified": .bool(passkey.isUserVerified),
            ]
            #expect(found == expected, "\(vector["name"] ?? .null)")
        }
        #expect(accepted == 17)
    }

    @Test func `Sign-ins are judged as others judge them`() throws {
        var accepted = 0
        for vector in try Vectors.all("assertions") {
            let relyingParty = try Vectors.relyingParty(of: vector)
            let text = try #require(vector["response"]?.object).serialized()
            let passkey = try Vectors.storedPasskey(of: vector)
            let assertion = try Self.judge(vector) {
                try relyingParty.verify(
                    AuthenticationResponse(parsing: text),
                    challenge: Vectors.bytes(vector["challenge"]),
                    passkey: passkey
                )
            }
            guard let assertion else { continue }
            accepted += 1
            let found: JSONObject = [
                "signCount": .integer(Int64(assertion.signCount)), "isBackedUp": .bool(assertion.isBackedUp),
                "isUserVerified": .bool(assertion.isUserVerified),
            ]
            #expect(found == vector["assertion"]?.object, "\(vector["name"] ?? .null)")
            #expect(!assertion.isCounterBehind)
        }
        #expect(accepted == 14)
    }

    /// The same members with the same values, but for two things: ours leave `hints` and an empty list of them out, and ask for
    /// `credProps`.
    @Test func `Options are those of another implementation`() throws {
        let theirs = try #require(Vectors.member("options").object)
        let relyingParty = try Vectors.relyingParty(of: ["isUserVerificationRequired": true])
        let request = try #require(theirs["request"]?.object)
        let challenge = try Vectors.bytes(request["challenge"])
        let named = try #require(request["allowCredentials"]?.array?.first?.object)
        let descriptor = CredentialDescriptor(id: try Vectors.bytes(named["id"]), transports: ["internal", "hybrid"])
        let ours = relyingParty.requestOptions(challenge: challenge, timeoutMilliseconds: 60_000, allowed: [descriptor])
        #expect(try Self.sorted(.object(JSONObject(parsing: ours))) == Self.sorted(.object(request)))

        var creation = try #require(theirs["creation"]?.object)
        creation["extensions"] = ["credProps": true]
        let user = try #require(
            UserEntity(id: Vectors.bytes(Vectors.member("userHandle")), name: "a@example.org", displayName: "A Person")
        )
        let made = relyingParty.creationOptions(
            name: "Ex\u{e4}mple \"1\"",
            user: user,
            challenge: challenge,
            timeoutMilliseconds: 300_000,
            excluded: [descriptor]
        )
        #expect(try Self.sorted(.object(JSONObject(parsing: made))) == Self.sorted(.object(creation)))
    }

    /// The value with the members of each object in alphabetical order.
    private static func sorted(_ value: JSONValue) -> JSONValue {
        if let elements = value.array { return .array(elements.map(sorted)) }
        guard let object = value.object else { return value }
        var result = JSONObject()
        for member in object.members.sorted(by: { $0.name < $1.name }) { result[member.name] = sorted(member.value) }
        return .object(result)
    }
}
