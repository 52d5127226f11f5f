import Testing

@testable import WebAuthn

struct AuthenticatorDataTests {
    private typealias Soft = SoftAuthenticatorData

    /// Data with a credential and extensions.
    private static func full(_ key: CredentialKey) -> Soft {
        var data = SoftRegistration(key).data
        data.flags |= Soft.extended
        data.rest = CBORText.map([(CBORText.text("credProtect"), CBORText.integer(2))])
        return data
    }

    @Test(arguments: CredentialKey.all)
    func `Each part is found behind the other`(key: CredentialKey) throws {
        let soft = Self.full(key)
        // Not at the start of an array.
        let data = try AuthenticatorData(parsing: ([1, 2, 3] + soft.bytes)[3...])
        #expect(data.flags.rawValue == soft.flags)
        #expect(data.signCount == 7)
        #expect(data.credential?.id == Example.credentialID)
        #expect(data.credential?.aaguid == Example.aaguid)
        #expect(data.credential?.publicKey == key.encoded)
    }

    @Test(arguments: CredentialKey.all)
    func `Data that are cut anywhere, or go on, are rejected`(key: CredentialKey) {
        let bytes = Self.full(key).bytes
        for count in 0..<bytes.count {
            #expect(throws: WebAuthnError.malformed(.authenticatorData), "cut at \(count)") {
                try AuthenticatorData(parsing: bytes.prefix(count))
            }
        }
        for more in [[0], [0xa0], [0xff]] as [[UInt8]] {
            #expect(throws: WebAuthnError.malformed(.authenticatorData)) {
                try AuthenticatorData(parsing: (bytes + more)[...])
            }
        }
    }

    @Test func `Flags and parts agree`() throws {
        var soft = SoftAssertion().data
        #expect(try AuthenticatorData(parsing: soft.bytes[...]).credential == nil)
        for flag in [Soft.attested, Soft.extended] {
            soft.flags |= flag
            #expect(throws: WebAuthnError.malformed(.authenticatorData)) {
                try AuthenticatorData(parsing: soft.bytes[...])
            }
            soft.flags &= ~flag
        }
        soft.publicKey = CredentialKey.es256.encoded
        #expect(throws: WebAuthnError.malformed(.authenticatorData)) { try AuthenticatorData(parsing: soft.bytes[...]) }
        soft.publicKey = nil
        soft.rest = CBORText.map([])
        #expect(throws: WebAuthnError.malformed(.authenticatorData)) { try AuthenticatorData(parsing: soft.bytes[...]) }
    }

    @Test func `Extensions are a map of names`() {
        for rest in [
            CBORText.array([]), CBORText.integer(0), CBORText.map([(CBORText.integer(1), CBORText.integer(1))]),
            [0xbf, 0xff], CBORText.map([]) + CBORText.map([]),
        ] {
            var soft = Self.full(.es256)
            soft.rest = rest
            #expect(throws: WebAuthnError.malformed(.authenticatorData)) {
                try AuthenticatorData(parsing: soft.bytes[...])
            }
        }
    }

    @Test func `A key is a map of at most 2 KiB`() throws {
        func data(_ fillerByteCount: Int) -> Soft {
            var soft = SoftRegistration().data
            let filler = (label: Int64(-9), value: CBORText.bytes([UInt8](repeating: 0, count: fillerByteCount)))
            soft.publicKey = CredentialKey.encoded(CredentialKey.es256.entries + [filler])
            return soft
        }
        let overhead = data(1024).publicKey.map { $0.count - 1024 } ?? 0
        #expect(try AuthenticatorData(parsing: data(2048 - overhead).bytes[...]).credential?.publicKey.count == 2048)
        #expect(throws: WebAuthnError.tooLarge(.publicKey)) {
            try AuthenticatorData(parsing: data(2049 - overhead).bytes[...])
        }
        var soft = SoftRegistration().data
        soft.publicKey = CBORText.bytes(CredentialKey.es256.encoded)
        #expect(throws: WebAuthnError.malformed(.authenticatorData)) { try AuthenticatorData(parsing: soft.bytes[...]) }
    }

    @Test func `The length of an id is not beyond what is left`() {
        for count: UInt16 in [0, 1, 19, 21, 1023, 1024, 0x1400, .max] {
            var soft = SoftRegistration().data
            soft.idByteCount = count
            #expect(throws: WebAuthnError.self, "\(count)") { try AuthenticatorData(parsing: soft.bytes[...]) }
        }
    }
}
