import Certificates
import JOSE
import TestWaits
import Testing

@testable import WebAuthn

/// Statements of soft authenticators with made-up roots, as `attestation_oracle.py` made them and another implementation judged them.
struct AttestationTests {
    private static let errors: [String: AttestationError] = [
        "unsupportedFormat": .unsupportedFormat, "malformed": .malformed, "wrongCertificate": .wrongCertificate,
        "unsupportedAlgorithm": .unsupportedAlgorithm, "badSignature": .badSignature, "keysDiffer": .keysDiffer,
        "wrongNonce": .wrongNonce, "keyNotProtected": .keyNotProtected, "selfAttested": .selfAttested,
        "unknownModel": .unknownModel, "modelNotTrusted": .modelNotTrusted,
    ]

    private static func isExpected(_ error: WebAuthnError, _ name: String) -> Bool {
        if case .attestation(.untrusted) = error { return name == "untrusted" }
        return errors[name].map { WebAuthnError.attestation($0) } == error
    }

    private static func register(_ vector: JSONObject, _ policy: AttestationPolicy) throws -> NewPasskey {
        try AttestationVectors.relyingParty().register(
            RegistrationResponse(parsing: #require(vector["response"]?.object).serialized()),
            challenge: #require(vector["challenge"]?.string.flatMap { Base64URL.decode($0) }),
            attestation: policy,
            now: AttestationVectors.now
        )
    }

    @Test func `Statements of all formats are judged`() throws {
        let policy = AttestationPolicy.trusted(try AttestationVectors.metadata())
        var (accepted, rejected) = ([AttestationFormat: Int](), Set<String>())
        for vector in try AttestationVectors.all("registrations") {
            let name = try #require(vector["name"]?.string)
            if let expected = vector["error"]?.string {
                let error = #expect(throws: WebAuthnError.self, "\(name)") { try Self.register(vector, policy) }
                #expect(error.map { Self.isExpected($0, expected) } == true, "\(name)")
                rejected.insert(expected)
            } else {
                let passkey = try Self.register(vector, policy)
                let attestation = try #require(passkey.attestation, "\(name)")
                #expect(attestation.format.rawValue == vector["format"]?.string, "\(name)")
                #expect(attestation.model == vector["model"]?.string, "\(name)")
                accepted[attestation.format, default: 0] += 1
            }
        }
        #expect(accepted == [.packed: 6, .fidoU2F: 1, .apple: 1, .androidKey: 2, .tpm: 5])
        #expect(rejected == Set(Self.errors.keys).union(["untrusted"]))
    }

    @Test func `Without a policy all of them are accepted, and prove nothing`() throws {
        for vector in try AttestationVectors.all("registrations") {
            #expect(try Self.register(vector, .none).attestation == nil)
        }
    }

    @Test func `Statements of many certificates, and of an array, are rejected`() throws {
        let policy = AttestationPolicy.trusted(try AttestationVectors.metadata())
        var registration = SoftRegistration()
        registration.format = CBORText.text("compound")
        registration.statement = [0x80]
        func error() throws -> WebAuthnError {
            try #require(throws: WebAuthnError.self) {
                try Example.relyingParty().register(
                    RegistrationResponse(parsing: registration.json.serialized()),
                    challenge: Example.challenge,
                    attestation: policy,
                    now: AttestationVectors.now
                )
            }
        }
        #expect(try error() == .attestation(.unsupportedFormat))
        registration.format = CBORText.text("packed")
        registration.statement = CBORText.map([
            (CBORText.text("alg"), CBORText.integer(-7)), (CBORText.text("sig"), CBORText.bytes([1])),
            (CBORText.text("x5c"), [0x89] + [UInt8](repeating: 0xf6, count: 9)),
        ])
        #expect(try error() == .attestation(.untrusted(.tooLong)))
    }

    @Test func `A model of the operator's own is trusted, and replaces one of the file`() throws {
        let good = try #require(AttestationVectors.all("registrations").first)
        var metadata = MetadataBlob()
        #expect(throws: WebAuthnError.attestation(.unknownModel)) { try Self.register(good, .trusted(metadata)) }
        let leaf = try #require(Self.certificates(of: good).first)
        let passkey = try Self.register(good, .none)
        metadata.add(
            AuthenticatorModel(
                description: "Ours",
                isTrusted: true,
                anchors: TrustAnchors([leaf], kind: .anyCertificate)
            ),
            aaguid: passkey.aaguid
        )
        #expect(try Self.register(good, .trusted(metadata)).attestation?.model == "Ours")
        // A leaf is no root.
        metadata.add(
            AuthenticatorModel(description: "Ours", isTrusted: true, anchors: TrustAnchors([leaf])),
            aaguid: passkey.aaguid
        )
        #expect(throws: WebAuthnError.self) { try Self.register(good, .trusted(metadata)) }
        var replaced = try AttestationVectors.metadata()
        replaced.add(AuthenticatorModel(description: "", isTrusted: false, anchors: nil), aaguid: passkey.aaguid)
        #expect(throws: WebAuthnError.attestation(.modelNotTrusted)) { try Self.register(good, .trusted(replaced)) }
    }

    private static func certificates(of vector: JSONObject) throws -> [Certificate] {
        let response = try RegistrationResponse(parsing: #require(vector["response"]?.object).serialized())
        let object = try AttestationObject(parsing: response.attestationObject)
        return try #require(object.statement).certificates()
    }

    @Test func `Options ask for a statement where the policy needs one`() throws {
        let user = try #require(UserEntity(id: [1], name: "a", displayName: "A"))
        func asked(_ policy: AttestationPolicy) throws -> JSONValue? {
            try JSONObject(
                parsing: Example.relyingParty().creationOptions(
                    name: "Example",
                    user: user,
                    challenge: Example.challenge,
                    timeoutMilliseconds: 1000,
                    attestation: policy
                )
            )["attestation"]
        }
        #expect(try asked(.none) == "none" && asked(.trusted(MetadataBlob())) == "direct")
    }

    // MARK: Mutations

    /// 10,000 registrations with one change of the attestation object. What is signed and the statement stay in those that are accepted.
    @Test(arguments: ["packed: good", "u2f: good", "apple: good", "android: good", "tpm: good"])
    func `A statement with one change is rejected`(name: String) async throws {
        let seed: UInt64 = 20_261_131
        print("seed \(seed)")
        var random = SeededRandom(seed: seed)
        let policy = AttestationPolicy.trusted(try AttestationVectors.metadata())
        let vector = try #require(AttestationVectors.all("registrations").first { $0["name"]?.string == name })
        var json = try #require(vector["response"]?.object)
        var response = try #require(json["response"]?.object)
        let object = try #require(response["attestationObject"]?.string.flatMap { Base64URL.decode($0) })
        let relyingParty = try AttestationVectors.relyingParty()
        let challenge = try #require(vector["challenge"]?.string.flatMap { Base64URL.decode($0) })
        var accepted = 0
        for round in 0..<2_000 {
            // So that other tests run meanwhile, some of which wait for a limited time.
            await Task.yield()
            let changed = random.mutated(object)
            response["attestationObject"] = .string(Base64URL.encode(changed))
            json["response"] = .object(response)
            guard let parsed = try? RegistrationResponse(parsing: json.serialized()),
                (try? relyingParty.register(
                    parsed,
                    challenge: challenge,
                    attestation: policy,
                    now: AttestationVectors.now
                )) != nil
            else { continue }
            accepted += 1
            #expect(changed == object || Self.isHarmless(changed, object, name), "round \(round)")
        }
        #expect(accepted < 500)
    }

    /// Whether only what needn't be signed is changed: flags and counter, which U2F doesn't sign, and certificates above the first that the
    /// chain doesn't need: those of Android end with the root, which is an anchor anyway.
    private static func isHarmless(_ changed: [UInt8], _ object: [UInt8], _ name: String) -> Bool {
        guard let before = try? CBORReader.whole(object[...]).map, let after = try? CBORReader.whole(changed[...]).map,
            var (old, new) = [before["authData"]?.bytes, after["authData"]?.bytes].map({ Array($0 ?? []) }).pair,
            old.count == new.count,
            let (first, second) = [before["attStmt"]?.map, after["attStmt"]?.map].compactMap(\.self).pair
        else { return false }
        if name == "u2f: good" {
            for index in 32..<37 { (old[index], new[index]) = (0, 0) }
        }
        let leaves = [first, second].map { $0["x5c"]?.array?.first }
        return old == new && first["sig"] == second["sig"] && leaves[0] == leaves[1]
            && (name == "android: good" || first == second)
    }
}

extension Array {
    /// Both elements of an array of two.
    fileprivate var pair: (Element, Element)? { count == 2 ? (self[0], self[1]) : nil }
}
