import JOSE
import Testing

@testable import DPoP

struct SeenProofsTests {
    private static let lifetime = SeenProofs.lifetimeSeconds

    @Test func `A proof is new once`() {
        let seen = SeenProofs()
        #expect(seen.insert(Example.verified("a"), monotonicSeconds: 0) == .new)
        #expect(seen.insert(Example.verified("a"), monotonicSeconds: 0) == .seen)
        // Another jti, and the same jti of another key.
        #expect(seen.insert(Example.verified("b"), monotonicSeconds: 0) == .new)
        #expect(seen.insert(Example.verified("a", key: 1), monotonicSeconds: 0) == .new)
        #expect(seen.count == 3)
    }

    /// Wherever in a generation it comes, and whatever comes between.
    @Test(arguments: 0..<SeenProofs.lifetimeSeconds)
    func `A proof is remembered for a lifetime, and forgotten after two`(offset: Int64) {
        let seen = SeenProofs()
        #expect(seen.insert(Example.verified("first"), monotonicSeconds: 0) == .new)
        #expect(seen.insert(Example.verified("a"), monotonicSeconds: offset) == .new)
        for seconds in offset..<offset + Self.lifetime {
            #expect(seen.insert(Example.verified("a"), monotonicSeconds: seconds) == .seen, "\(seconds)")
        }
        let later = SeenProofs()
        #expect(later.insert(Example.verified("first"), monotonicSeconds: 0) == .new)
        #expect(later.insert(Example.verified("a"), monotonicSeconds: offset) == .new)
        #expect(later.insert(Example.verified("a"), monotonicSeconds: offset + Self.lifetime - 1) == .seen)
        #expect(later.insert(Example.verified("a"), monotonicSeconds: 2 * Self.lifetime + offset) == .new)
    }

    /// From the first to the last second in which a proof may be accepted.
    @Test func `A proof is remembered for as long as it is good`() {
        #expect(Self.lifetime >= DPoPNonces.lifetimeSeconds + DPoPNonces.windowSeconds)
        #expect(Self.lifetime > DPoPVerifier.proofSecondsMax + DPoPVerifier.clockSkewSecondsMax)
    }

    @Test func `Time at its edges and backwards is no trap and forgets nothing early`() {
        let seen = SeenProofs()
        #expect(seen.insert(Example.verified("a"), monotonicSeconds: .min) == .new)
        #expect(seen.insert(Example.verified("a"), monotonicSeconds: .min) == .seen)
        #expect(seen.insert(Example.verified("a"), monotonicSeconds: .max) == .new)
        for seconds: Int64 in [.max, .max - 1, 0, -1, .min] {
            #expect(seen.insert(Example.verified("a"), monotonicSeconds: seconds) == .seen)
        }
    }

    @Test func `A key has a share, and others still have room`() {
        let seen = SeenProofs(proofsMax: 64 * SeenProofs.shardCount, proofsOfKeyMax: 8)
        for index in 0..<8 { #expect(seen.insert(Example.verified("\(index)"), monotonicSeconds: 0) == .new) }
        for index in 8..<100 { #expect(seen.insert(Example.verified("\(index)"), monotonicSeconds: 0) == .keyFull) }
        #expect(seen.insert(Example.verified("0"), monotonicSeconds: 0) == .seen)
        for key: UInt8 in 1..<4 {
            for index in 0..<8 {
                #expect(seen.insert(Example.verified("\(index)", key: key), monotonicSeconds: 0) == .new)
            }
        }
        #expect(seen.insert(Example.verified("8"), monotonicSeconds: Self.lifetime) == .new)
        #expect(seen.count == 33)
    }

    @Test func `A full memory refuses what is new, and still knows what it has`() {
        let seen = SeenProofs(proofsMax: 2 * SeenProofs.shardCount, proofsOfKeyMax: 100)
        #expect(seen.insert(Example.verified("a"), monotonicSeconds: 0) == .new)
        #expect(seen.insert(Example.verified("b"), monotonicSeconds: 0) == .full)
        #expect(seen.insert(Example.verified("a"), monotonicSeconds: 0) == .seen)
        #expect(seen.insert(Example.verified("b"), monotonicSeconds: Self.lifetime) == .new)
        #expect(seen.insert(Example.verified("a"), monotonicSeconds: Self.lifetime) == .seen)
        var results: [SeenProofs.Insertion] = []
        for key: UInt8 in 0...255 {
            results.append(seen.insert(Example.verified("c", key: key), monotonicSeconds: 150))
        }
        #expect(results.contains(.full) && results.contains(.new))
        #expect(seen.count <= 2 * SeenProofs.shardCount)
    }

    @Test func `Of the same proof on many threads one is new`() async {
        let seen = SeenProofs()
        let (threadCount, proofCount) = (8, 2_000)
        let proofs = (0..<proofCount).map { Example.verified("\($0)", key: UInt8($0 % 7)) }
        let counts = await withTaskGroup(of: [Int].self) { group in
            for thread in 0..<threadCount {
                group.addTask {
                    // Each thread begins elsewhere, and time goes on meanwhile: two generations are in use.
                    (0..<proofCount).map { step in
                        let index = (step + thread * proofCount / threadCount) % proofCount
                        let seconds = Int64(step) * Self.lifetime / Int64(proofCount)
                        return seen.insert(proofs[index], monotonicSeconds: seconds) == .new ? index : -1
                    }
                }
            }
            var counts = [Int](repeating: 0, count: proofCount)
            for await news in group { for index in news where index >= 0 { counts[index] += 1 } }
            return counts
        }
        #expect(counts.allSatisfy { $0 == 1 })
        #expect(seen.count == proofCount)
    }
}
