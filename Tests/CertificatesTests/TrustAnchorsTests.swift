import Certificates
import Foundation
import JOSE
import Testing

/// Chains that `oracle.py` makes, each with one fault or none.
struct TrustAnchorsTests {
    private static let file = Result {
        try JSONObject(
            parsing: Data(contentsOf: Bundle.module.bundleURL.appending(path: "vectors.json")),
            limits: JSONLimits(bytesMax: 256 * 1024)
        )
    }

    private static func chains() throws -> [JSONObject] {
        try #require(file.get()["chains"]?.array).map { try #require($0.object) }
    }

    private static func bytes(_ value: JSONValue?) throws -> [UInt8] {
        try #require(value?.string.flatMap { Base64URL.decode($0) })
    }

    private static func certificates(_ value: JSONValue?) throws -> [Certificate] {
        try #require(value?.array).map { try Certificate(der: bytes($0)) }
    }

    /// The good chain, from the certificate on.
    private static func goodChain() throws -> (chain: [Certificate], anchors: [Certificate], now: Int) {
        let good = try #require(chains().first)
        return try (
            certificates(good["chain"]), certificates(good["anchors"]), Int(#require(good["now"]?.integer))
        )
    }

    private static func verify(_ vector: JSONObject) throws {
        let kind: TrustAnchors.Kind = vector["kind"] == "roots" ? .roots : .anyCertificate
        let anchors = try #require(TrustAnchors(certificates(vector["anchors"]), kind: kind))
        try anchors.verify(certificates(vector["chain"]), at: Int(#require(vector["now"]?.integer)))
    }

    @Test func `A chain is judged by all of its rules`() throws {
        var (accepted, rejected) = (0, 0)
        for vector in try Self.chains() {
            let name = try #require(vector["name"]?.string)
            if let reason = vector["error"]?.string {
                rejected += 1
                #expect(throws: ChainError.untrusted(reason: reason), "\(name)") { try Self.verify(vector) }
            } else {
                accepted += 1
                #expect(throws: Never.self, "\(name)") { try Self.verify(vector) }
            }
        }
        #expect((accepted, rejected) == (10, 20))
    }

    @Test func `A chain without certificates, and one that is too long, are rejected`() throws {
        let (chain, roots, now) = try Self.goodChain()
        let anchors = try #require(TrustAnchors(roots))
        #expect(throws: ChainError.empty) { try anchors.verify([], at: now) }
        let between = Array(repeating: chain[1], count: TrustAnchors.chainCertificatesMax - 1)
        try anchors.verify([chain[0]] + between, at: now)
        #expect(throws: ChainError.tooLong) { try anchors.verify([chain[0]] + between + [chain[1]], at: now) }
    }

    @Test func `Anchors are one to so many certificates`() throws {
        let (_, roots, _) = try Self.goodChain()
        #expect(TrustAnchors([]) == nil)
        #expect(TrustAnchors(Array(repeating: roots[0], count: TrustAnchors.anchorsMax)) != nil)
        #expect(TrustAnchors(Array(repeating: roots[0], count: TrustAnchors.anchorsMax + 1)) == nil)
    }

    @Test func `Several threads verify with the same certificates`() async throws {
        let (chain, roots, now) = try Self.goodChain()
        let anchors = try #require(TrustAnchors(roots))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<50 { try anchors.verify(chain, at: now) } }
            }
            try await group.waitForAll()
        }
    }

    // MARK: Contents

    @Test func `A certificate says its key, its subject and its extensions`() throws {
        let (chain, _, _) = try Self.goodChain()
        let file = try Self.file.get()
        let (leaf, between) = (chain[0], chain[1])
        #expect(leaf.publicKeyInfo == (try Self.bytes(file["publicKeyInfo"])))
        #expect(leaf.keyIdentifier == (try Self.bytes(file["keyIdentifier"])))
        #expect(leaf.version == 3 && !leaf.isAuthority && between.isAuthority)
        #expect(leaf.subject(.country) == "SE" && leaf.subject(.organization) == "Example \u{c4}B")
        #expect(leaf.subject(.organizationalUnit) == "Authenticator Attestation")
        #expect(leaf.subject(.commonName) == "A key")
        #expect(between.subject(.organization) == nil)
        let found = try #require(leaf.extension("1.3.6.1.4.1.99999.1"))
        #expect(found.value == Array("\u{4}\u{2}hi".utf8) && !found.isCritical)
        #expect(leaf.extension("2.5.29.19")?.isCritical == true)
        #expect(leaf.extension("1.3.6.1.4.1.99999.2") == nil && leaf.extension("no identifier") == nil)
    }

    @Test func `The public key of a certificate is a key of tokens`() throws {
        let file = try Self.file.get()
        let key = try VerificationKey(publicKeyInfo: Self.bytes(file["publicKeyInfo"]))
        #expect(key.uncompressedPoint == (try Self.bytes(file["point"])))
        #expect(key.type == .p256)
    }

    @Test func `A curve that is spelled out is rejected`() throws {
        let explicit = try #require(Self.file.get()["explicitCurve"]?.object)
        let (certificate, key) = try (Self.bytes(explicit["certificate"]), Self.bytes(explicit["publicKeyInfo"]))
        #expect(throws: CertificateError.malformed(what: "certificate")) { try Certificate(der: certificate) }
        #expect(throws: KeyError.malformed) { try VerificationKey(publicKeyInfo: key) }
    }

    // MARK: Forms

    @Test func `A certificate cut at any byte, one with a byte behind it, and a long one are rejected`() throws {
        let der = try Self.goodChain().chain[0].der
        let wrong =
            der.indices.map { Array(der[..<$0]) } + [
                der + [0], [UInt8](repeating: 0x30, count: Certificate.bytesMax + 1),
            ]
        for bytes in wrong {
            #expect(throws: CertificateError.malformed(what: "certificate")) { try Certificate(der: bytes) }
        }
    }

    @Test func `A certificate with any other bit is rejected, or is not certified`() async throws {
        let (chain, roots, now) = try Self.goodChain()
        let anchors = try #require(TrustAnchors(roots))
        var parsed = 0
        for bit in 0..<chain[0].der.count * 8 {
            // So that other tests run meanwhile, some of which wait for a limited time.
            await Task.yield()
            var der = chain[0].der
            der[bit / 8] ^= 1 << (bit % 8)
            guard let changed = try? Certificate(der: der) else { continue }
            parsed += 1
            #expect(throws: ChainError.self, "bit \(bit)") { try anchors.verify([changed, chain[1]], at: now) }
        }
        #expect(parsed > 1000)
    }
}
