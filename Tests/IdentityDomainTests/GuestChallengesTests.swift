import JOSE
import Testing

@testable import IdentityDomain

struct GuestChallengesTests {
    private let keys: [[UInt8]] = [SecureRandom.bytes(32), SecureRandom.bytes(32)]

    private func challenges(_ keys: [[UInt8]]) throws -> GuestChallenges {
        GuestChallenges(try #require(RefreshKeys(keys)))
    }

    private func make(_ challenges: GuestChallenges, bits: Int = 6) -> String {
        challenges.make(workBits: bits, nowSeconds: 1_000, random: SecureRandom.bytes(16))
    }

    private func solve(_ challenge: String, bits: Int = 6) throws -> String {
        try #require(
            (0...).lazy.map { "\(challenge).\($0)" }.first { GuestChallenges.zeroBits(SHA256.hash($0)) >= bits }
        )
    }

    @Test func `A solved challenge is good for five minutes under any of the keys, and each solution is the same`()
        throws
    {
        let (old, both) = (try challenges([keys[1]]), try challenges(keys))
        let text = make(old)
        #expect(text.utf8.count == GuestChallenges.textByteCount)
        let proof = try solve(text)
        let solved = try both.solved(proof, nowSeconds: 1_000)
        #expect(try both.solved(proof, nowSeconds: 1_299) == solved)
        #expect(solved.endsAtSeconds == 1_300 && solved.fingerprint.count == 32)
        let other = try #require(
            (1_000_000...).lazy.map { "\(text).\($0)" }.first { GuestChallenges.zeroBits(SHA256.hash($0)) >= 6 }
        )
        #expect(try both.solved(other, nowSeconds: 1_000) == solved)
        #expect(throws: IdentityError.guest(.workExpired)) { try both.solved(proof, nowSeconds: 1_300) }
        #expect(throws: IdentityError.guest(.workInvalid)) { try old.solved(solve(make(both)), nowSeconds: 1_000) }
        #expect(try both.solved(solve(make(old)), nowSeconds: 1_000).fingerprint != solved.fingerprint)
    }

    @Test func `What the challenge demands counts, and no bit of it can be changed`() throws {
        let challenges = try challenges(keys)
        let text = make(challenges, bits: 12)
        let weak = try #require(
            (0...).lazy.map { "\(text).\($0)" }.first { GuestChallenges.zeroBits(SHA256.hash($0)) < 12 }
        )
        #expect(throws: IdentityError.guest(.workInvalid)) { try challenges.solved(weak, nowSeconds: 1_000) }
        _ = try challenges.solved(solve(text, bits: 12), nowSeconds: 1_000)
        let bytes = try #require(Base64URL.decode(make(challenges, bits: 0)))
        for bit in 0..<(bytes.count * 8) {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            // Whatever work was done for it.
            let proof = try solve(Base64URL.encode(changed), bits: 3)
            #expect(throws: IdentityError.guest(.workInvalid)) { try challenges.solved(proof, nowSeconds: 1_000) }
        }
    }

    @Test func `Anything else is refused`() throws {
        let challenges = try challenges(keys)
        let text = make(challenges, bits: 0)
        _ = try challenges.solved(text + ".0", nowSeconds: 1_000)
        _ = try challenges.solved(text + "." + String(repeating: "9", count: 20), nowSeconds: 1_000)
        for proof in [
            "", ".", text, text + ".", text + ".x", text + ".-1", text + ".1 ", text + "1.", text + "..1", "." + text,
            text + "." + String(repeating: "9", count: 21), text + ".\u{661}", String(repeating: "a", count: 100_000),
            String(text.dropLast()) + ".1", "!" + text.dropFirst() + ".1",
        ] {
            #expect(throws: IdentityError.guest(.workInvalid), "\(proof.prefix(80))") {
                try challenges.solved(proof, nowSeconds: 1_000)
            }
        }
    }

    @Test func `Zero bits are counted from the front`() {
        #expect(GuestChallenges.zeroBits([0x80, 0]) == 0)
        #expect(GuestChallenges.zeroBits([0x01, 0xff]) == 7)
        #expect(GuestChallenges.zeroBits([0, 0x10]) == 11)
        #expect(GuestChallenges.zeroBits([0, 0]) == 16)
    }
}
