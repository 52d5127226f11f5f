import AppAttestation
import Certificates
import JOSE
import Testing

/// What made-up authorities certify and apps sign, as `oracle.py` made it and another implementation judged it.
struct AppAttestTests {
    private static let errors: [String: AppAttestError] = [
        "wrongEnvironment": .wrongEnvironment, "wrongFormat": .wrongFormat, "wrongNonce": .wrongNonce,
        "wrongKeyID": .wrongKeyID, "badKey": .badKey, "wrongApp": .wrongApp, "counterNotZero": .counterNotZero,
        "counterNotHigher": .counterNotHigher, "badSignature": .badSignature,
        "malformed.authenticatorData": .malformed(.authenticatorData),
        "malformed.attestation": .malformed(.attestation),
    ]

    private static func isExpected(_ error: AppAttestError, _ name: String) -> Bool {
        if case .untrusted(.untrusted) = error { return name == "untrusted" }
        return errors[name] == error
    }

    private static func verify(_ vector: JSONObject, keyID: [UInt8]? = nil) throws -> AttestedAppKey {
        let environments = try #require(vector["environments"]?.array).compactMap {
            $0.string.flatMap(AppAttest.Environment.init)
        }
        return try Vectors.appAttest(Set(environments)).verifyAttestation(
            Vectors.bytes(vector["object"]),
            keyID: keyID ?? Vectors.bytes(vector["keyID"]),
            clientData: Vectors.bytes(Vectors.member("clientData")),
            now: Vectors.number(vector["now"])
        )
    }

    @Test func `Attestations are judged by all of Apple's steps`() throws {
        var (accepted, rejected) = (0, 0)
        for vector in try Vectors.all("attestations") {
            let name = try #require(vector["name"]?.string)
            if let expected = vector["error"]?.string {
                rejected += 1
                let error = #expect(throws: AppAttestError.self, "\(name)") { try Self.verify(vector) }
                #expect(error.map { Self.isExpected($0, expected) } == true, "\(name)")
            } else {
                accepted += 1
                let key = try Self.verify(vector)
                #expect(key.id == (try Vectors.bytes(vector["keyID"])), "\(name)")
                #expect(key.publicKey == (try Vectors.bytes(Vectors.member("publicKey"))), "\(name)")
                #expect(key.receipt == (try Vectors.bytes(Vectors.member("receipt"))), "\(name)")
                #expect(key.environment.rawValue == vector["environment"]?.string, "\(name)")
            }
        }
        #expect((accepted, rejected) == (5, 26))
    }

    @Test func `Assertions are judged by all of Apple's steps`() throws {
        var (accepted, rejected) = (0, 0)
        for vector in try Vectors.all("assertions") {
            let name = try #require(vector["name"]?.string)
            let verify = {
                try Vectors.appAttest().verifyAssertion(
                    Vectors.bytes(vector["assertion"]),
                    clientData: Vectors.bytes(Vectors.member("clientData")),
                    key: StoredAppKey(
                        publicKey: Vectors.bytes(vector["publicKey"]),
                        counter: UInt32(Vectors.number(vector["stored"]))
                    )
                )
            }
            if let expected = vector["error"]?.string {
                rejected += 1
                let error = try #require(Self.errors[expected])
                #expect(throws: error, "\(name)") { try verify() }
            } else {
                accepted += 1
                #expect(try Int(verify()) == Vectors.number(vector["counter"]), "\(name)")
            }
        }
        #expect((accepted, rejected) == (4, 7))
    }

    // MARK: Forms

    @Test func `An attestation has at most eight certificates, and each is one`() throws {
        let good = try Vectors.named("good", of: "attestations")
        let object = try Vectors.bytes(good["object"])
        // A map of three, "fmt", "apple-appattest", "attStmt", a map of two, "x5c", an array of two.
        let start = try #require(object.indices.first { object[$0...].starts(with: Array("cx5c".utf8)) }) + 4
        #expect(object[start] == 0x82)
        func verify(_ certificates: [UInt8], keeping kept: Int) throws -> AttestedAppKey {
            var vector = good
            let rest = try #require(object.indices.first { object[$0...].starts(with: Array("greceipt".utf8)) })
            let own = kept == 0 ? [] : object[(start + 1)..<rest]
            vector["object"] = .string(Base64URL.encode(object[..<start] + certificates + own + object[rest...]))
            return try Self.verify(vector)
        }
        #expect(throws: AppAttestError.untrusted(.empty)) { try verify([0x80], keeping: 0) }
        #expect(throws: AppAttestError.malformed(.certificate)) { try verify([0x81, 0x41, 0], keeping: 0) }
        #expect(throws: AppAttestError.malformed(.certificate)) { try verify([0x81, 0x61, 0x61], keeping: 0) }
        #expect(throws: AppAttestError.malformed(.attestation)) { try verify([0x00], keeping: 0) }
        let nine = [0x89] + [UInt8](repeating: 0xf6, count: 9)
        #expect(throws: AppAttestError.untrusted(.tooLong)) { try verify(nine, keeping: 0) }
        #expect(try verify([0x82], keeping: 2).environment == .production)
    }

    @Test func `Objects that are too large, and key identifiers of another length, are rejected`() throws {
        let good = try Vectors.named("good", of: "attestations")
        var large = good
        large["object"] = .string(Base64URL.encode([UInt8](repeating: 0, count: AppAttest.attestationBytesMax + 1)))
        #expect(throws: AppAttestError.tooLarge(.attestation)) { try Self.verify(large) }
        #expect(throws: AppAttestError.malformed(.keyID)) { try Self.verify(good, keyID: []) }
        let key = StoredAppKey(publicKey: [4] + [UInt8](repeating: 1, count: 64), counter: 0)
        let assertion = try Vectors.bytes(Vectors.named("good", of: "assertions")["assertion"])
        let appAttest = try Vectors.appAttest()
        #expect(throws: AppAttestError.tooLarge(.assertion)) {
            try appAttest.verifyAssertion(
                [UInt8](repeating: 0, count: AppAttest.assertionBytesMax + 1),
                clientData: [],
                key: key
            )
        }
        #expect(throws: AppAttestError.malformed(.assertion)) {
            try appAttest.verifyAssertion(assertion + [0], clientData: [], key: key)
        }
        // No point of the curve, and no point.
        for publicKey in [key.publicKey, Array(key.publicKey.dropLast()), []] {
            #expect(throws: AppAttestError.malformed(.publicKey)) {
                try appAttest.verifyAssertion(
                    assertion,
                    clientData: [],
                    key: StoredAppKey(publicKey: publicKey, counter: 0)
                )
            }
        }
    }

    @Test func `A configuration names a team, an app and an environment`() throws {
        let roots = try #require(TrustAnchors([Certificate(der: Vectors.bytes(Vectors.member("root")))]))
        func make(_ team: String, _ bundle: String, _ environments: Set<AppAttest.Environment> = [.production]) throws {
            _ = try AppAttest(teamID: team, bundleID: bundle, environments: environments, roots: roots)
        }
        try make("A1B2C3D4E5", "com.Example-2.app")
        for team in ["", "A1B2C3D4E", "A1B2C3D4E55", "a1B2C3D4E5", "A1B2C3D4E\u{c4}"] {
            #expect(throws: AppAttestConfigurationError.invalidTeamID) { try make(team, "com.example.app") }
        }
        for bundle in ["", "com.example.\u{e4}pp", "com example", String(repeating: "a", count: 156)] {
            #expect(throws: AppAttestConfigurationError.invalidBundleID) { try make("A1B2C3D4E5", bundle) }
        }
        #expect(throws: AppAttestConfigurationError.noEnvironment) { try make("A1B2C3D4E5", "com.example.app", []) }
    }
}
