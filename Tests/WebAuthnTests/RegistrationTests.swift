import JOSE
import Testing
import WebAuthn

/// Section 7.1, step by step: each test changes one thing of a registration that is accepted.
struct RegistrationTests {
    private typealias Data = SoftAuthenticatorData

    /// Expects that the registration with one change is rejected, and for that reason.
    private func expect(
        _ error: WebAuthnError,
        _ userVerification: RelyingParty.UserVerification = .required,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout SoftRegistration) throws -> Void
    ) throws {
        var registration = SoftRegistration()
        try change(&registration)
        let relyingParty = try Example.relyingParty(userVerification)
        #expect(throws: error, sourceLocation: sourceLocation) { try relyingParty.register(registration) }
    }

    @Test(arguments: zip(CredentialKey.all, PasskeyAlgorithm.allCases))
    func `A registration is accepted with what it says`(key: CredentialKey, algorithm: PasskeyAlgorithm) throws {
        let passkey = try Example.relyingParty().register(SoftRegistration(key))
        #expect(passkey.credentialID == Example.credentialID)
        #expect(passkey.publicKey == key.encoded)
        #expect(passkey.algorithm == algorithm)
        #expect(passkey.signCount == 7)
        #expect(passkey.aaguid == Example.aaguid)
        #expect(passkey.isBackupEligible && !passkey.isBackedUp && passkey.isUserVerified)
        #expect(passkey.transports == ["internal", "hybrid"])
    }

    @Test func `Each flag is reported by itself`() throws {
        let relyingParty = try Example.relyingParty(.preferred)
        let flags = [Data.userVerified, Data.backupEligible, Data.backupEligible | Data.backedUp]
        for extra in [0] + flags {
            var registration = SoftRegistration()
            // With both flags that are reserved.
            registration.data.flags = Data.userPresent | Data.attested | 0x22 | extra
            let passkey = try relyingParty.register(registration)
            #expect(passkey.isUserVerified == (extra == Data.userVerified))
            #expect(passkey.isBackupEligible == (extra & Data.backupEligible != 0))
            #expect(passkey.isBackedUp == (extra & Data.backedUp != 0))
        }
    }

    @Test func `The type is that of a registration`() throws {
        for type in ["webauthn.get", "webauthn.create ", "Webauthn.create", "payment.get", ""] {
            try expect(.wrongType) { $0.clientData.type = type }
        }
    }

    @Test func `The challenge is the expected one, in its only spelling`() throws {
        let right = Base64URL.encode(Example.challenge)
        for wrong in ["", right + "=", String(right.dropLast()), right + "A", Base64URL.encode([UInt8](1..<33))] {
            try expect(.wrongChallenge) { $0.clientData.challenge = wrong }
        }
    }

    @Test func `A challenge that can be guessed is never the expected one`() throws {
        for (count, isAccepted) in [(0, false), (15, false), (16, true)] {
            let challenge = Array(Example.challenge.prefix(count))
            var registration = SoftRegistration()
            registration.clientData.challenge = Base64URL.encode(challenge)
            let relyingParty = try Example.relyingParty()
            let response = try RegistrationResponse(parsing: registration.json.serialized())
            #expect(isAccepted == ((try? relyingParty.register(response, challenge: challenge)) != nil))
        }
    }

    @Test(arguments: [Example.origin, "https://www.other.example", Example.app])
    func `The origin is one of the configured`(origin: String) throws {
        var registration = SoftRegistration()
        registration.clientData.origin = origin
        #expect(try Example.relyingParty().register(registration).signCount == 7)
    }

    @Test(arguments: [
        "", "https://example.com", "http://app.example.com", "https://app.example.com/", "https://app.example.com:443",
        "https://APP.example.com", "https://app.example.com.", "https://app.example.com.evil.example", "null",
        Example.app.replacing("K", with: "\u{212a}"),
    ])
    func `Another origin is rejected, however similar`(origin: String) throws {
        try expect(.wrongOrigin) { $0.clientData.origin = origin }
    }

    @Test func `A ceremony in a frame of another site is rejected`() throws {
        try expect(.crossOrigin) { $0.clientData.more = [("crossOrigin", true)] }
        try expect(.malformed(.clientData)) { $0.clientData.more = [("crossOrigin", "false")] }
        try expect(.topOrigin) { $0.clientData.more = [("topOrigin", "https://app.example.com")] }
        try expect(.topOrigin) { $0.clientData.more = [("crossOrigin", false), ("topOrigin", .null)] }
    }

    @Test func `Other members of the client data are ignored`() throws {
        var registration = SoftRegistration()
        registration.clientData.more = [
            ("tokenBinding", ["status": "present", "id": "AAAA"]), ("other_keys_can_be_added_here", "\u{e9}"),
        ]
        #expect(try Example.relyingParty().register(registration).signCount == 7)
    }

    @Test(arguments: [
        "", "[]", "null", "{}", "{", #"{"type":"webauthn.create","challenge":"","origin":1}"#,
        "\u{feff}{}",
        #"{"type":"webauthn.create","type":"webauthn.create","challenge":"","origin":""}"#,
        #"{"type":"webauthn.create","challenge":"","origin":""} x"#,
        #"{"type":["webauthn.create"],"challenge":"","origin":""}"#,
        #"{"type":"webauthn.create","challenge":null,"origin":""}"#,
        #"{"type":"webauthn.create","challenge":"","origin":"","a":[[[[[]]]]]}"#,
    ])
    func `Client data of another form is rejected`(text: String) throws {
        try expect(.malformed(.clientData)) { $0.clientData.text = text }
    }

    @Test func `Client data that is not UTF-8 or too long is rejected`() throws {
        let relyingParty = try Example.relyingParty()
        func register(_ clientData: [UInt8]) throws -> NewPasskey {
            var json = SoftRegistration().json
            var response = try #require(json["response"]?.object)
            response["clientDataJSON"] = .string(Base64URL.encode(clientData))
            json["response"] = .object(response)
            return try relyingParty.register(
                RegistrationResponse(parsing: json.serialized()),
                challenge: Example.challenge
            )
        }
        let good = SoftRegistration().clientData.bytes
        let spaces = { [UInt8](repeating: UInt8(ascii: " "), count: $0) }
        #expect(try register(good + spaces(8192 - good.count)).signCount == 7)
        #expect(throws: WebAuthnError.tooLarge(.clientData)) { try register(good + spaces(8193 - good.count)) }
        #expect(throws: WebAuthnError.malformed(.clientData)) { try register(good.dropLast() + [0xff, 0x7d]) }
    }

    @Test func `The authenticator worked for this relying party`() throws {
        for id in ["app.example.com", "EXAMPLE.com", "com", ""] {
            try expect(.wrongRelyingParty) { $0.data.relyingPartyID = id }
        }
    }

    @Test func `The user made a gesture`() throws {
        try expect(.userNotPresent) { $0.data.flags &= ~Data.userPresent }
    }

    @Test func `The user is verified where that is required`() throws {
        try expect(.userNotVerified) { $0.data.flags &= ~Data.userVerified }
    }

    @Test func `What may not be backed up is not backed up`() throws {
        try expect(.backupStateImpossible) { $0.data.flags = ($0.data.flags & ~Data.backupEligible) | Data.backedUp }
    }

    @Test func `The key's algorithm is one that was offered`() throws {
        for algorithm: Int64 in [-35, -36, -37, -258, -65535, -9, -19, 7, 0] {
            try expect(.unsupportedAlgorithm) {
                $0.data.publicKey = CredentialKey.es256.encoded(with: 3, CBORText.integer(algorithm))
            }
        }
    }

    @Test func `A credential comes with it`() throws {
        try expect(.malformed(.authenticatorData)) {
            $0.data.flags &= ~Data.attested
            $0.data.publicKey = nil
        }
    }

    @Test func `Extensions that nobody asked for are ignored`() throws {
        var registration = SoftRegistration()
        registration.data.flags |= Data.extended
        registration.data.rest = CBORText.map([
            (CBORText.text("credProtect"), CBORText.integer(2)), (CBORText.text("hmac-secret"), [0xf5]),
        ])
        #expect(try Example.relyingParty().register(registration).publicKey == CredentialKey.es256.encoded)
    }

    /// Statements prove nothing here; their form is all that counts.
    @Test func `A statement of any format is accepted in form`() throws {
        let packed = CBORText.map([
            (CBORText.text("alg"), CBORText.integer(-7)), (CBORText.text("sig"), CBORText.bytes([0x30])),
            (CBORText.text("x5c"), CBORText.array([CBORText.bytes([1, 2, 3])])),
        ])
        let compound = CBORText.array([CBORText.map([(CBORText.text("fmt"), CBORText.text("none"))])])
        for (format, statement) in [("packed", packed), ("a-later-format", CBORText.map([])), ("compound", compound)] {
            var registration = SoftRegistration()
            registration.format = CBORText.text(format)
            registration.statement = statement
            #expect(try Example.relyingParty().register(registration).aaguid == Example.aaguid)
        }
        try expect(.malformed(.attestationObject)) { $0.statement = packed }
        try expect(.malformed(.attestationObject)) { $0.statement = CBORText.array([]) }
        try expect(.malformed(.attestationObject)) { $0.statement = CBORText.text("") }
        try expect(.malformed(.attestationObject)) {
            $0.format = CBORText.text("packed")
            $0.statement = CBORText.map([(CBORText.integer(1), CBORText.integer(1))])
        }
        try expect(.malformed(.attestationObject)) { $0.format = CBORText.text("") }
        try expect(.malformed(.attestationObject)) {
            $0.format = CBORText.text(String(repeating: "a", count: 33))
        }
    }

    @Test func `An attestation object of another form is rejected`() throws {
        let good = SoftRegistration().attestation
        for bytes in [[], [0xa0], good + [0], Array(good.dropLast()), CBORText.array([good]), CBORText.bytes(good)] {
            try expect(.malformed(.attestationObject)) { $0.attestationObject = bytes }
        }
        let entries = [("fmt", CBORText.text("none")), ("attStmt", CBORText.map([]))]
        let data = ("authData", CBORText.bytes(SoftRegistration().data.bytes))
        func object(_ entries: [(String, [UInt8])]) -> [UInt8] {
            CBORText.map(entries.map { (CBORText.text($0.0), $0.1) })
        }
        for missing in [[entries[0], entries[1]], [entries[0], data], [entries[1], data]] {
            try expect(.malformed(.attestationObject)) { $0.attestationObject = object(missing) }
        }
        try expect(.malformed(.attestationObject)) {
            $0.attestationObject = object(entries + [("authData", CBORText.text("a"))])
        }
        let numbered = [(CBORText.integer(1), [0xf6])] + (entries + [data]).map { (CBORText.text($0.0), $0.1) }
        try expect(.malformed(.attestationObject)) { $0.attestationObject = CBORText.map(numbered) }
        // In another order, and with a key of a later level.
        var registration = SoftRegistration()
        registration.attestationObject = object([data, entries[1], ("later", [0xf6]), entries[0]])
        #expect(try Example.relyingParty().register(registration).signCount == 7)
    }

    @Test func `The credential's id has at most 1023 bytes`() throws {
        let relyingParty = try Example.relyingParty()
        var registration = SoftRegistration()
        registration.id = [UInt8](repeating: 9, count: 1023)
        registration.data.credentialID = registration.id
        #expect(try relyingParty.register(registration).credentialID.count == 1023)
        try expect(.tooLarge(.credentialID)) { $0.data.credentialID = [UInt8](repeating: 9, count: 1024) }
        try expect(.tooLarge(.credentialID)) { $0.id = [UInt8](repeating: 9, count: 1024) }
        try expect(.malformed(.credentialID)) { $0.data.credentialID = [] }
        try expect(.malformed(.credentialID)) { $0.id = [] }
    }

    @Test func `The response and the authenticator name the same credential`() throws {
        try expect(.credentialIDsDiffer) { $0.id[0] ^= 1 }
    }
}
