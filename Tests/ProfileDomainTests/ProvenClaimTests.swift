import Models
import ProfileDomain
import Testing

/// Who loses by the proof that a number is a user's.
struct ProvenClaimTests {
    private let maria = UserID(high: 1, low: 1)
    private let jose = UserID(high: 1, low: 2)
    private let mallory = UserID(high: 1, low: 3)

    private func decide(_ holder: UserID?, isProven: Bool = false, isIdle: Bool? = nil) -> ProvenClaim {
        ProvenClaim.decide(
            holder: holder.map { ProvenClaim.Holder(userID: $0, isProven: isProven) },
            claimant: maria,
            judgement: isIdle.flatMap { idle in holder.map { ProvenClaim.Judgement(userID: $0, isIdle: idle) } }
        )
    }

    @Test func `Nobody loses a number that nobody typed, or that stays with who has proven it`() {
        #expect(decide(nil).losers(typedBefore: nil).isEmpty)
        #expect(decide(maria).losers(typedBefore: nil).isEmpty)
        #expect(decide(jose, isProven: true).losers(typedBefore: mallory).isEmpty, "who is to be judged first")
        #expect(decide(jose, isProven: true, isIdle: false).losers(typedBefore: mallory).isEmpty)
    }

    @Test func `Whoever typed it loses it, whether they have it still or not`() {
        #expect(decide(jose).losers(typedBefore: nil) == [jose])
        #expect(decide(nil).losers(typedBefore: mallory) == [mallory])
        #expect(decide(maria).losers(typedBefore: mallory) == [mallory], "also if the user has it already")
        #expect(decide(jose).losers(typedBefore: mallory) == [jose, mallory])
        #expect(decide(jose).losers(typedBefore: jose) == [jose], "who has it again")
        #expect(decide(jose, isProven: true, isIdle: true).losers(typedBefore: nil) == [jose])
    }
}
