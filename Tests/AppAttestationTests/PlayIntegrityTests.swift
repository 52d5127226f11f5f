import AppAttestation
import JOSE
import TestWaits
import Testing

/// Tokens under made-up keys, as `oracle.py` made them and two other implementations judged them.
struct PlayIntegrityTests {
    private static let errors: [String: PlayIntegrityError] = [
        "wrongRequestPackage": .wrongRequestPackage, "wrongRequest": .wrongRequest, "expired": .expired,
        "notYetValid": .notYetValid, "testResponse": .testResponse, "appNotRecognized": .appNotRecognized,
        "wrongPackage": .wrongPackage, "wrongCertificate": .wrongCertificate, "versionTooOld": .versionTooOld,
        "deviceNotTrusted": .deviceNotTrusted, "notLicensed": .notLicensed, "malformed.payload": .malformed(.payload),
        "malformed.requestDetails": .malformed(.requestDetails), "malformed.appIntegrity": .malformed(.appIntegrity),
        "malformed.deviceIntegrity": .malformed(.deviceIntegrity),
        "malformed.accountDetails": .malformed(.accountDetails),
        "malformed.testingDetails": .malformed(.testingDetails),
        "encryption.malformed": .encryption(.malformed), "encryption.tooLarge": .encryption(.tooLarge),
        "encryption.notDecrypted": .encryption(.notDecrypted),
        "encryption.unsupportedAlgorithm": .encryption(.unsupportedAlgorithm),
        "encryption.criticalExtension": .encryption(.criticalExtension),
        "signature.malformed": .signature(.malformed), "signature.unsigned": .signature(.unsigned),
        "signature.unsupportedAlgorithm": .signature(.unsupportedAlgorithm),
        "signature.badSignature": .signature(.badSignature),
    ]

    private static func policy(_ changes: JSONObject = [:]) throws -> PlayIntegrityPolicy {
        let digests = try changes["digests"]?.array ?? [Vectors.member("digest")]
        var policy = try PlayIntegrityPolicy(
            packageName: Vectors.text("package"),
            certificateDigests: Set(digests.map { try Vectors.bytes($0) })
        )
        policy.versionCodeMin = changes["versionCodeMin"]?.integer
        if let label = changes["label"] { policy.requiredLabel = label.string.flatMap(PlayDeviceLabel.init) }
        policy.requiresLicense = changes["requiresLicense"] == true
        policy.acceptsTestResponses = changes["acceptsTests"] == true
        return policy
    }

    private static func integrity(_ policy: PlayIntegrityPolicy) throws -> PlayIntegrity {
        try PlayIntegrity(
            decryptionKeyBase64: Vectors.text("decryptionKey"),
            verificationKeyBase64: Vectors.text("verificationKey"),
            policy: policy
        )
    }

    private static func verify(_ vector: JSONObject, now: Int64? = nil) throws -> PlayIntegrityVerdict {
        let request: PlayIntegrityRequest =
            try vector["request"] == "nonce"
            ? .nonce(Vectors.bytes(Vectors.member("nonce"))) : .requestHash(Vectors.text("requestHash"))
        return try integrity(policy(#require(vector["policy"]?.object))).verify(
            #require(vector["token"]?.string),
            request: request,
            nowMilliseconds: now ?? Int64(Vectors.number(Vectors.member("nowMilliseconds")))
        )
    }

    @Test func `Tokens are judged by their request, their keys and the policy`() throws {
        var (accepted, rejected) = (0, 0)
        for vector in try Vectors.all("tokens") {
            let name = try #require(vector["name"]?.string)
            if let expected = vector["error"]?.string {
                rejected += 1
                let error = try #require(Self.errors[expected], "\(name)")
                #expect(throws: error, "\(name)") { try Self.verify(vector) }
            } else {
                accepted += 1
                #expect(try Self.verify(vector).versionCode == 42, "\(name)")
            }
        }
        #expect(accepted == 14 && rejected > 60)
    }

    @Test func `A verdict says what the token does`() throws {
        let verdict = try Self.verify(Vectors.named("good", of: "tokens"))
        #expect(verdict.deviceLabels == ["MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY"])
        #expect(verdict.licensing == "LICENSED")
        #expect(try Int(verdict.requestMilliseconds) == Vectors.number(Vectors.member("nowMilliseconds")) - 5000)
    }

    @Test(arguments: [Int64.min, -1, 0, Int64.max] as [Int64])
    func `A clock that is far off rejects and never traps`(now: Int64) throws {
        let error: PlayIntegrityError = now > 0 ? .expired : .notYetValid
        #expect(throws: error) { try Self.verify(Vectors.named("good", of: "tokens"), now: now) }
    }

    @Test func `No request is answered by an empty nonce or hash`() throws {
        let integrity = try Self.integrity(Self.policy())
        let token = try #require(Vectors.named("good", of: "tokens")["token"]?.string)
        for request in [PlayIntegrityRequest.nonce([]), .requestHash("")] {
            #expect(throws: PlayIntegrityError.wrongRequest) {
                try integrity.verify(
                    token,
                    request: request,
                    nowMilliseconds: Int64(Vectors.number(Vectors.member("nowMilliseconds")))
                )
            }
        }
    }

    // MARK: Configuration

    @Test func `A configuration has a key of 32 bytes and one on P-256`() throws {
        let policy = try Self.policy()
        let (good, key) = try (Vectors.text("decryptionKey"), Vectors.text("verificationKey"))
        for wrong in ["", "AAAA", good + "AAAA", " " + good, String(good.dropLast())] {
            #expect(throws: PlayIntegrityConfigurationError.invalidDecryptionKey) {
                try PlayIntegrity(decryptionKeyBase64: wrong, verificationKeyBase64: key, policy: policy)
            }
        }
        for wrong in ["", "AAAA", key + "AAAA"] {
            #expect(throws: PlayIntegrityConfigurationError.invalidVerificationKey) {
                try PlayIntegrity(decryptionKeyBase64: good, verificationKeyBase64: wrong, policy: policy)
            }
        }
        #expect(throws: PlayIntegrityConfigurationError.invalidVerificationKey) {
            try PlayIntegrity(
                decryptionKey: [UInt8](repeating: 0, count: 32),
                verificationKey: SigningKey.generateRSA2048().verificationKey,
                policy: policy
            )
        }
    }

    @Test func `A policy names a package, certificates and an age`() throws {
        let digest = [UInt8](repeating: 1, count: 32)
        func make(_ digests: Set<[UInt8]>, package: String = "com.example.app", age: Int64 = 1000) throws {
            _ = try PlayIntegrityPolicy(packageName: package, certificateDigests: digests, ageMillisecondsMax: age)
        }
        try make([digest], age: 86_400_000)
        for package in ["", "com.example-app", "com.\u{e4}pp", String(repeating: "a", count: 224)] {
            #expect(throws: PlayIntegrityConfigurationError.invalidPackageName) { try make([digest], package: package) }
        }
        let many = Set((0..<17).map { [UInt8](repeating: $0, count: 32) })
        for digests in [[], [digest, []], many] as [Set<[UInt8]>] {
            #expect(throws: PlayIntegrityConfigurationError.invalidCertificateDigests) { try make(digests) }
        }
        for age in [999, 86_400_001, -1, .max] as [Int64] {
            #expect(throws: PlayIntegrityConfigurationError.invalidAge) { try make([digest], age: age) }
        }
    }

    // MARK: Mutations

    @Test func `No token with one change is accepted`() async throws {
        let seed: UInt64 = 20_261_130
        print("seed \(seed)")
        var random = SeededRandom(seed: seed)
        let good = try Vectors.named("good", of: "tokens")
        let token = Array(try #require(good["token"]?.string).utf8)
        let integrity = try Self.integrity(Self.policy())
        let request = PlayIntegrityRequest.nonce(try Vectors.bytes(Vectors.member("nonce")))
        let now = Int64(try Vectors.number(Vectors.member("nowMilliseconds")))
        for round in 0..<10_000 {
            // So that other tests run meanwhile, some of which wait for a limited time.
            await Task.yield()
            let changed = random.mutated(token)
            let text = String(decoding: changed, as: UTF8.self)
            let isAccepted = (try? integrity.verify(text, request: request, nowMilliseconds: now)) != nil
            #expect(isAccepted == (changed == token), "round \(round)")
        }
    }
}
