import AppAttestation
import JOSE
import TestWaits
import Testing

/// 10,000 objects with one change each. None is accepted but where nothing that matters changed, which the test knows without our
/// readers. A trap ends the tests, which is how it is seen.
struct AppAttestMutationTests {
    private static let seed: UInt64 = 20_261_129
    private static let rounds = 5_000

    @Test func `An attestation with one change is rejected, but for one of the receipt`() async throws {
        print("seed \(Self.seed)")
        var random = SeededRandom(seed: Self.seed)
        let good = try Vectors.named("with extensions that no flag announces", of: "attestations")
        let object = try Vectors.bytes(good["object"])
        let (keyID, clientData) = try (Vectors.bytes(good["keyID"]), Vectors.bytes(Vectors.member("clientData")))
        let (appAttest, now) = try (Vectors.appAttest(), Vectors.number(good["now"]))
        let expected = try appAttest.verifyAttestation(object, keyID: keyID, clientData: clientData, now: now)
        let start = try #require(object.indices.first { object[$0...].starts(with: expected.receipt) })
        var (accepted, kinds) = (0, Set<String>())
        for round in 0..<Self.rounds {
            // So that other tests run meanwhile, some of which wait for a limited time.
            await Task.yield()
            let changed = random.mutated(object)
            do throws(AppAttestError) {
                let key = try appAttest.verifyAttestation(changed, keyID: keyID, clientData: clientData, now: now)
                accepted += 1
                // Everything outside of the receipt and of its length of two bytes is the same.
                let rest = object.count - start - expected.receipt.count
                #expect(changed.prefix(start - 2) == object.prefix(start - 2), "round \(round)")
                #expect(changed.suffix(rest) == object.suffix(rest), "round \(round)")
                #expect(key.id == expected.id && key.publicKey == expected.publicKey, "round \(round)")
            } catch {
                #expect(changed != object, "round \(round): \(error)")
                kinds.insert("\(error)")
            }
        }
        #expect(accepted < Self.rounds / 4 && kinds.count > 6, "\(accepted) \(kinds)")
    }

    @Test func `An assertion with one change is rejected`() async throws {
        print("seed \(Self.seed)")
        var random = SeededRandom(seed: Self.seed)
        let good = try Vectors.named("with extensions", of: "assertions")
        let assertion = try Vectors.bytes(good["assertion"])
        let clientData = try Vectors.bytes(Vectors.member("clientData"))
        let key = StoredAppKey(publicKey: try Vectors.bytes(good["publicKey"]), counter: 0)
        let appAttest = try Vectors.appAttest()
        for round in 0..<Self.rounds {
            // So that other tests run meanwhile, some of which wait for a limited time.
            await Task.yield()
            let changed = random.mutated(assertion)
            let isAccepted =
                (try? appAttest.verifyAssertion(changed, clientData: clientData, key: key)) != nil
            #expect(isAccepted == (changed == assertion), "round \(round)")
        }
    }
}
