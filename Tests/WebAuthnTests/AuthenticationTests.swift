import JOSE
import Testing
import WebAuthn

/// Section 7.2, step by step: each test changes one thing of a sign-in that is accepted.
struct AuthenticationTests {
    private typealias Data = SoftAuthenticatorData

    /// Expects that the sign-in with one change, which the key signs, is rejected, and for that reason.
    private func expect(
        _ error: WebAuthnError,
        _ key: CredentialKey = .es256,
        _ userVerification: RelyingParty.UserVerification = .required,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout SoftAssertion) throws -> Void
    ) throws {
        var assertion = SoftAssertion(key)
        try change(&assertion)
        let relyingParty = try Example.relyingParty(userVerification)
        #expect(throws: error, sourceLocation: sourceLocation) { try relyingParty.verify(assertion) }
    }

    @Test(arguments: CredentialKey.all)
    func `A sign-in is accepted with what it says`(key: CredentialKey) throws {
        let assertion = try Example.relyingParty().verify(SoftAssertion(key))
        #expect(assertion.signCount == 8)
        #expect(assertion.isBackedUp && assertion.isUserVerified && !assertion.isCounterBehind)
        #expect(assertion.userHandle == Example.userHandle)
    }

    @Test func `Each flag is reported by itself`() throws {
        let relyingParty = try Example.relyingParty(.preferred)
        for extra in [0, Data.userVerified, Data.backedUp] {
            var assertion = SoftAssertion()
            assertion.data.flags = Data.userPresent | Data.backupEligible | 0x22 | extra
            let result = try relyingParty.verify(assertion)
            #expect(result.isUserVerified == (extra == Data.userVerified))
            #expect(result.isBackedUp == (extra == Data.backedUp))
        }
    }

    @Test func `A registered passkey signs in`() throws {
        let relyingParty = try Example.relyingParty()
        for key in CredentialKey.all {
            let passkey = try relyingParty.register(SoftRegistration(key))
            let stored = StoredPasskey(
                publicKey: passkey.publicKey,
                signCount: passkey.signCount,
                isBackupEligible: passkey.isBackupEligible
            )
            #expect(try relyingParty.verify(SoftAssertion(key), passkey: stored).signCount == 8)
        }
    }

    @Test func `The user handle is that of the response`() throws {
        let relyingParty = try Example.relyingParty()
        for (value, handle) in [(nil, nil), (.null, nil), ("", nil), ("AQ", [1])] as [(JSONValue?, [UInt8]?)] {
            var assertion = SoftAssertion()
            assertion.userHandle = value
            #expect(try relyingParty.verify(assertion).userHandle == handle)
        }
    }

    @Test func `The type is that of a sign-in`() throws {
        for type in ["webauthn.create", "webauthn.get\0", "payment.get", ""] {
            try expect(.wrongType) { $0.clientData.type = type }
        }
    }

    @Test func `The challenge is the expected one`() throws {
        try expect(.wrongChallenge) { $0.clientData.challenge = Base64URL.encode([UInt8](1..<33)) }
    }

    @Test func `The origin is one of the configured`() throws {
        try expect(.wrongOrigin) { $0.clientData.origin = "https://example.com" }
    }

    @Test func `A ceremony in a frame of another site is rejected`() throws {
        try expect(.crossOrigin) { $0.clientData.more = [("crossOrigin", true)] }
        try expect(.topOrigin) { $0.clientData.more = [("topOrigin", "https://app.example.com")] }
    }

    @Test func `Client data of another form is rejected`() throws {
        try expect(.malformed(.clientData)) { $0.clientData.text = "{}" }
    }

    @Test func `The authenticator worked for this relying party`() throws {
        try expect(.wrongRelyingParty) { $0.data.relyingPartyID = "app.example.com" }
    }

    @Test func `The user made a gesture`() throws {
        try expect(.userNotPresent) { $0.data.flags &= ~Data.userPresent }
    }

    @Test func `The user is verified where that is required`() throws {
        try expect(.userNotVerified) { $0.data.flags &= ~Data.userVerified }
    }

    @Test func `What may not be backed up is not backed up`() throws {
        try expect(.backupStateImpossible) { $0.data.flags &= ~Data.backupEligible }
    }

    @Test func `Whether a passkey may be backed up never changes`() throws {
        try expect(.backupEligibilityChanged) { $0.data.flags &= ~(Data.backupEligible | Data.backedUp) }
        let relyingParty = try Example.relyingParty()
        let assertion = SoftAssertion()
        let stored = StoredPasskey(publicKey: assertion.key.encoded, signCount: 7, isBackupEligible: false)
        #expect(throws: WebAuthnError.backupEligibilityChanged) { try relyingParty.verify(assertion, passkey: stored) }
    }

    @Test func `Authenticator data of another form is rejected`() throws {
        try expect(.malformed(.authenticatorData)) { $0.data.rest = [0] }
        try expect(.malformed(.authenticatorData)) {
            $0.data.flags |= Data.attested
            $0.data.publicKey = CredentialKey.es256.encoded
        }
    }

    @Test func `Extensions that nobody asked for are ignored`() throws {
        var assertion = SoftAssertion()
        assertion.data.flags |= Data.extended
        assertion.data.rest = CBORText.map([(CBORText.text("largeBlob"), [0xf4])])
        #expect(try Example.relyingParty().verify(assertion).signCount == 8)
    }

    @Test(arguments: CredentialKey.all)
    func `The signature covers authenticator data and client data`(key: CredentialKey) throws {
        let good = SoftAssertion(key)
        let signature = try key.sign(good.data.bytes + SHA256.hash(good.clientData.bytes))
        try expect(.badSignature, key) {
            $0.signature = signature
            $0.data.signCount = 9
        }
        try expect(.badSignature, key) {
            $0.signature = signature
            $0.clientData.more = []
        }
        // The hash is over the bytes, not over what they mean.
        try expect(.badSignature, key) {
            $0.signature = signature
            $0.clientData.text = String(decoding: $0.clientData.bytes, as: UTF8.self) + " "
        }
        try expect(.badSignature, key) { $0.signature = try key.sign($0.data.bytes) }
        try expect(.badSignature, key) { $0.signature = try key.sign($0.data.bytes + $0.clientData.bytes) }
    }

    @Test(arguments: CredentialKey.all)
    func `A signature of another length or key is rejected`(key: CredentialKey) throws {
        let good = SoftAssertion(key)
        let signature = try key.sign(good.data.bytes + SHA256.hash(good.clientData.bytes))
        for wrong in [[], [0], Array(signature.dropLast()), signature + [0], [0] + signature] {
            try expect(.badSignature, key) { $0.signature = wrong }
        }
        let relyingParty = try Example.relyingParty()
        for other in CredentialKey.all where other.encoded != key.encoded {
            let stored = StoredPasskey(publicKey: other.encoded, signCount: 7, isBackupEligible: true)
            #expect(throws: WebAuthnError.badSignature) { try relyingParty.verify(good, passkey: stored) }
        }
        let another = CredentialKey.elliptic(try SigningKey.generateP256())
        let stored = StoredPasskey(publicKey: another.encoded, signCount: 7, isBackupEligible: true)
        #expect(throws: WebAuthnError.badSignature) { try relyingParty.verify(good, passkey: stored) }
    }

    @Test func `An elliptic signature is DER, not JOSE's form`() throws {
        let signer = try SigningKey.generateP256()
        var assertion = SoftAssertion(.elliptic(signer))
        #expect(try Example.relyingParty().verify(assertion).signCount == 8)
        assertion.signature = try signer.sign(assertion.data.bytes + SHA256.hash(assertion.clientData.bytes))
        #expect(throws: WebAuthnError.badSignature) { try Example.relyingParty().verify(assertion) }
    }

    @Test func `A stored key that is none is reported, not trusted`() throws {
        let relyingParty = try Example.relyingParty()
        for (bytes, error) in [
            ([], WebAuthnError.malformed(.publicKey)), (CredentialKey.es256.encoded + [0], .malformed(.publicKey)),
            ([UInt8](repeating: 0, count: 2049), .tooLarge(.publicKey)),
        ] {
            let stored = StoredPasskey(publicKey: bytes, signCount: 7, isBackupEligible: true)
            #expect(throws: error) { try relyingParty.verify(SoftAssertion(), passkey: stored) }
        }
    }

    @Test(
        arguments: [
            (0, 0, false), (0, 1, false), (1, 2, false), (1, 1, true), (2, 1, true), (1, 0, true), (.max, .max, true),
            (.max - 1, .max, false),
        ] as [(UInt32, UInt32, Bool)]
    )
    func `A counter that did not rise is reported`(stored: UInt32, new: UInt32, isBehind: Bool) throws {
        var assertion = SoftAssertion()
        assertion.data.signCount = new
        let passkey = StoredPasskey(publicKey: assertion.key.encoded, signCount: stored, isBackupEligible: true)
        let result = try Example.relyingParty().verify(assertion, passkey: passkey)
        #expect(result.signCount == new)
        #expect(result.isCounterBehind == isBehind)
    }
}
