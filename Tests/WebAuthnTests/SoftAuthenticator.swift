import JOSE
import WebAuthn

/// The relying party of the tests.
enum Example {
    static let origin = "https://app.example.com"
    static let challenge = [UInt8](0..<32)
    static let credentialID = [UInt8](100..<120)
    static let aaguid = [UInt8](1...16)
    static let userHandle = [UInt8](200..<216)

    static func relyingParty(
        _ userVerification: RelyingParty.UserVerification = .required
    ) throws -> RelyingParty {
        try RelyingParty(
            id: "example.com",
            origins: [origin, "https://www.other.example", Self.app],
            userVerification: userVerification
        )
    }

    /// An app for Android. The hash has a K, which a Kelvin sign equals in `String`'s comparison.
    static let app = "android:apk-key-hash:KKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKI"
}

/// Client data that a client writes.
struct SoftClientData: Sendable {
    var type: String
    var challenge = Base64URL.encode(Example.challenge)
    var origin = Example.origin
    /// The members behind them.
    var more: [(name: String, value: JSONValue)] = [("crossOrigin", false)]
    /// The text in place of all that.
    var text: String?

    var bytes: [UInt8] {
        if let text { return Array(text.utf8) }
        var object: JSONObject = [
            "type": .string(type), "challenge": .string(challenge), "origin": .string(origin),
        ]
        for (name, value) in more { object[name] = value }
        return object.serialized()
    }
}

/// Authenticator data that an authenticator writes.
struct SoftAuthenticatorData: Sendable {
    static let userPresent: UInt8 = 0x01
    static let userVerified: UInt8 = 0x04
    static let backupEligible: UInt8 = 0x08
    static let backedUp: UInt8 = 0x10
    static let attested: UInt8 = 0x40
    static let extended: UInt8 = 0x80

    var relyingPartyID = "example.com"
    var flags: UInt8
    var signCount: UInt32 = 7
    var aaguid = Example.aaguid
    var credentialID = Example.credentialID
    /// The length in front of the credential's id, if not its own.
    var idByteCount: UInt16?
    /// The COSE_Key; nil without a credential.
    var publicKey: [UInt8]?
    /// What follows: extensions.
    var rest: [UInt8] = []

    var bytes: [UInt8] {
        var bytes = SHA256.hash(relyingPartyID) + [flags] + Self.bigEndian(signCount)
        if let publicKey {
            bytes += aaguid + Self.bigEndian(idByteCount ?? UInt16(credentialID.count)) + credentialID + publicKey
        }
        return bytes + rest
    }

    private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}

/// A registration that a client sends.
struct SoftRegistration: Sendable {
    var clientData = SoftClientData(type: "webauthn.create")
    var data: SoftAuthenticatorData
    var format = CBORText.text("none")
    var statement = CBORText.map([])
    /// The attestation object in place of what these make.
    var attestationObject: [UInt8]?
    var id: [UInt8] = Example.credentialID
    /// Members of the response beside the two that it needs.
    var more: [(name: String, value: JSONValue)] = [("transports", ["internal", "hybrid"])]

    init(_ key: CredentialKey = .es256) {
        data = SoftAuthenticatorData(
            flags: SoftAuthenticatorData.userPresent | SoftAuthenticatorData.userVerified
                | SoftAuthenticatorData.backupEligible | SoftAuthenticatorData.attested,
            publicKey: key.encoded
        )
    }

    var attestation: [UInt8] {
        attestationObject
            ?? CBORText.map([
                (CBORText.text("fmt"), format), (CBORText.text("attStmt"), statement),
                (CBORText.text("authData"), CBORText.bytes(data.bytes)),
            ])
    }

    /// The text as a browser makes it.
    var json: JSONObject {
        var response: JSONObject = [
            "clientDataJSON": .string(Base64URL.encode(clientData.bytes)),
            "attestationObject": .string(Base64URL.encode(attestation)),
        ]
        for (name, value) in more { response[name] = value }
        return SoftClient.credential(id, response)
    }
}

/// A sign-in that a client sends.
struct SoftAssertion: Sendable {
    var clientData = SoftClientData(type: "webauthn.get")
    var data = SoftAuthenticatorData(
        flags: SoftAuthenticatorData.userPresent | SoftAuthenticatorData.userVerified
            | SoftAuthenticatorData.backupEligible | SoftAuthenticatorData.backedUp,
        signCount: 8
    )
    var key: CredentialKey
    /// The signature in place of the key's.
    var signature: [UInt8]?
    var userHandle: JSONValue? = .string(Base64URL.encode(Example.userHandle))

    init(_ key: CredentialKey = .es256) { self.key = key }

    /// What is stored of the passkey.
    var passkey: StoredPasskey { StoredPasskey(publicKey: key.encoded, signCount: 7, isBackupEligible: true) }

    func json() throws -> JSONObject {
        let signature = try signature ?? key.sign(data.bytes + SHA256.hash(clientData.bytes))
        var response: JSONObject = [
            "clientDataJSON": .string(Base64URL.encode(clientData.bytes)),
            "authenticatorData": .string(Base64URL.encode(data.bytes)),
            "signature": .string(Base64URL.encode(signature)),
        ]
        response["userHandle"] = userHandle
        return SoftClient.credential(Example.credentialID, response)
    }
}

/// What clients add.
enum SoftClient {
    static func credential(_ id: [UInt8], _ response: JSONObject) -> JSONObject {
        [
            "id": .string(Base64URL.encode(id)), "rawId": .string(Base64URL.encode(id)), "type": "public-key",
            "response": .object(response), "authenticatorAttachment": "platform",
            "clientExtensionResults": ["credProps": ["rk": true]],
        ]
    }
}

extension RelyingParty {
    /// Parses and registers what a client sends.
    func register(_ registration: SoftRegistration) throws(WebAuthnError) -> NewPasskey {
        try register(RegistrationResponse(parsing: registration.json.serialized()), challenge: Example.challenge)
    }

    /// Parses and verifies what a client sends.
    func verify(_ assertion: SoftAssertion, passkey: StoredPasskey? = nil) throws -> PasskeyAssertion {
        try verify(
            AuthenticationResponse(parsing: assertion.json().serialized()),
            challenge: Example.challenge,
            passkey: passkey ?? assertion.passkey
        )
    }
}
