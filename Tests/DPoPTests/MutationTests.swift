import JOSE
import TestWaits
import Testing

@testable import DPoP

/// 10,000 proofs with one change each. A trap ends the tests, which is how it is seen.
struct MutationTests {
    private static let seed: UInt64 = 20_261_129

    /// A proof whose text was changed after it was signed. The two that are accepted by others would have the same signed bytes and the
    /// same signature, so none is.
    @Test(arguments: ["ES256, with all at once", "EdDSA"])
    func `A proof that was changed is rejected`(name: String) async throws {
        print("seed \(Self.seed)")
        var random = SeededRandom(seed: Self.seed)
        let vector = try #require(Vectors.all("proofs").first { $0["name"]?.string == name })
        let text = Array(try #require(vector["proof"]?.string).utf8)
        let verifier = DPoPVerifier(nonces: try Vectors.nonces(), requiresNonce: vector["requiresNonce"] == true)
        let (request, now) = try (Vectors.request(of: vector), Vectors.now())
        _ = try verifier.verify(String(decoding: text, as: UTF8.self), of: request, now: now)
        for round in 0..<2_500 {
            // So that other tests run meanwhile, some of which wait for a limited time.
            await Task.yield()
            let changed = random.mutated(text)
            guard changed != text else { continue }
            #expect(throws: DPoPError.self, "round \(round)") {
                try verifier.verify(String(decoding: changed, as: UTF8.self), of: request, now: now)
            }
        }
    }

    /// A proof whose header and claims were changed in their decoded form. The change breaks the signature, so none is accepted.
    @Test func `Parts that were changed under their encoding are rejected`() async throws {
        print("seed \(Self.seed)")
        var random = SeededRandom(seed: Self.seed)
        let parts = try Example.proof().split(separator: ".").map { try #require(Base64URL.decode($0)) }
        for round in 0..<2_500 {
            // So that other tests run meanwhile, some of which wait for a limited time.
            await Task.yield()
            var changed = parts
            changed[round % 3] = random.mutated(parts[round % 3])
            guard changed != parts else { continue }
            let text = changed.map { Base64URL.encode($0) }.joined(separator: ".")
            #expect(throws: DPoPError.self, "round \(round)") {
                try Example.verifier.verify(text, of: Example.request, now: Example.now)
            }
        }
    }

    /// As above, but signed again: so that what is behind the signature is read. What is accepted says what it must say, read by other
    /// means.
    @Test func `Parts that were changed and signed again are rejected, or say what they must`() async throws {
        print("seed \(Self.seed)")
        var random = SeededRandom(seed: Self.seed)
        let (header, claims) = (Example.header.serialized(), Example.claims.serialized())
        var accepted = 0
        for round in 0..<2_500 {
            // So that other tests run meanwhile, some of which wait for a limited time.
            await Task.yield()
            let isHeader = round.isMultiple(of: 2)
            let headerText = isHeader ? random.changed(header) : header
            let claimsText = isHeader ? claims : random.changed(claims)
            let text = try Example.signed(headerText: headerText, claimsText: claimsText)
            do throws(DPoPError) {
                let proof = try Example.verifier.verify(text, of: Example.request, now: Example.now)
                accepted += 1
                #expect(proof.thumbprint.text == Example.key.keyID, "round \(round)")
            } catch { continue }
            let (head, body) = try (JSONObject(parsing: headerText), JSONObject(parsing: claimsText))
            #expect(head["typ"] == "dpop+jwt" && head["alg"] == "ES256", "round \(round)")
            #expect(head["jwk"]?.object?["d"] == nil && head["crit"] == nil, "round \(round)")
            #expect(body["htm"] == "POST" && body["jti"]?.string?.isEmpty == false, "round \(round)")
            let target = body["htu"]?.string.flatMap { TargetURI($0) }
            #expect(target?.description == "https://api.example.org/v1/me", "round \(round)")
            let iat = try #require(body["iat"]?.numericDateSeconds)
            #expect(-10...60 ~= Example.now.unixSeconds - iat, "round \(round)")
        }
        #expect(20..<1_500 ~= accepted)
    }

    @Test func `A proof that was cut is rejected at each offset`() async throws {
        let text = try Example.proof()
        for count in 0..<text.utf8.count {
            // So that other tests run meanwhile, some of which wait for a limited time.
            await Task.yield()
            #expect(throws: DPoPError.self) {
                try Example.verifier.verify(String(text.prefix(count)), of: Example.request, now: Example.now)
            }
        }
    }
}
