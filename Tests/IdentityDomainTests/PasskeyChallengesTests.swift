import JOSE
import Models
import Testing

@testable import IdentityDomain

struct PasskeyChallengesTests {
    private let keys: [[UInt8]] = [SecureRandom.bytes(32), SecureRandom.bytes(32)]
    private let session = SessionID(high: 1, low: 2)
    private let user = UserID(high: 5, low: 6)

    private func challenges(_ keys: [[UInt8]]) throws -> PasskeyChallenges {
        PasskeyChallenges(try #require(RefreshKeys(keys)))
    }

    private func make(_ challenges: PasskeyChallenges, for purpose: PasskeyChallenges.Purpose) -> [UInt8] {
        challenges.make(for: purpose, nowSeconds: 1_000, random: SecureRandom.bytes(16))
    }

    @Test func `A challenge is good for five minutes under any of the keys, and each is another one`() throws {
        let (old, both) = (try challenges([keys[1]]), try challenges(keys))
        let challenge = make(old, for: .signIn)
        #expect(challenge.count == PasskeyChallenges.byteCount)
        let spent = try both.check(challenge, for: .signIn, nowSeconds: 1_000)
        #expect(try both.check(challenge, for: .signIn, nowSeconds: 1_299) == spent)
        #expect(spent.endsAtSeconds == 1_300 && spent.fingerprint.count == 32)
        #expect(throws: IdentityError.passkey(.challengeExpired)) {
            try both.check(challenge, for: .signIn, nowSeconds: 1_300)
        }
        #expect(throws: IdentityError.passkey(.challengeUnknown)) {
            try old.check(make(both, for: .signIn), for: .signIn, nowSeconds: 1_000)
        }
        #expect(
            try both.check(make(old, for: .signIn), for: .signIn, nowSeconds: 1_000).fingerprint != spent.fingerprint
        )
    }

    @Test func `A challenge is good for what it was made for alone`() throws {
        let challenges = try challenges(keys)
        let purposes: [PasskeyChallenges.Purpose] = [
            .signIn, .registration(session, handle: user), .registration(SessionID(high: 1, low: 3), handle: user),
            .registration(session, handle: UserID(high: 5, low: 7)),
        ]
        for made in purposes {
            let challenge = make(challenges, for: made)
            for asked in purposes where asked != made {
                #expect(throws: IdentityError.passkey(.challengeUnknown)) {
                    try challenges.check(challenge, for: asked, nowSeconds: 1_000)
                }
            }
            _ = try challenges.check(challenge, for: made, nowSeconds: 1_000)
        }
    }

    @Test func `No bit of a challenge can be changed, and none be missing or more`() throws {
        let challenges = try challenges(keys)
        let challenge = make(challenges, for: .registration(session, handle: user))
        for bit in 0..<(challenge.count * 8) {
            var changed = challenge
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: IdentityError.passkey(.challengeUnknown)) {
                try challenges.check(changed, for: .registration(session, handle: user), nowSeconds: 1_000)
            }
        }
        for other in [[], Array(challenge.dropLast()), challenge + [0]] {
            #expect(throws: IdentityError.passkey(.challengeUnknown)) {
                try challenges.check(other, for: .registration(session, handle: user), nowSeconds: 1_000)
            }
        }
    }
}
