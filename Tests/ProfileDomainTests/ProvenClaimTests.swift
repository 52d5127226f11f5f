import Models
import ProfileDomain
import Testing

/// The effect of a proof that a number is a user's, and which users lose it.
struct ProvenClaimTests {
    private static let day: Int64 = 86_400_000
    private let maria = UserID(high: 1, low: 1)
    private let jose = UserID(high: 1, low: 2)
    private let mallory = UserID(high: 1, low: 3)

    private func decide(_ holder: UserID?, isProven: Bool = false, isIdle: Bool? = nil) -> ProvenClaim {
        ProvenClaim.decide(
            holder: holder.map { ProvenClaim.Holder(userID: $0, isProven: isProven) },
            claimant: maria,
            mayOpen: false,
            judgement: isIdle.flatMap { idle in holder.map { ProvenClaim.Judgement(userID: $0, isIdle: idle) } }
        )
    }

    @Test func `No user loses a number that nobody typed, or that stays with the user who has proven it`() {
        #expect(decide(nil).losers(typedBefore: nil).isEmpty)
        #expect(decide(maria).losers(typedBefore: nil).isEmpty)
        #expect(decide(jose, isProven: true).losers(typedBefore: mallory).isEmpty, "who is to be judged first")
        #expect(decide(jose, isProven: true, isIdle: false).losers(typedBefore: mallory).isEmpty)
    }

    @Test func `A user who typed the number loses it, whether they still have it or not`() {
        #expect(decide(jose).losers(typedBefore: nil) == [jose])
        #expect(decide(nil).losers(typedBefore: mallory) == [mallory])
        #expect(decide(maria).losers(typedBefore: mallory) == [mallory], "also if the user has it already")
        #expect(decide(jose).losers(typedBefore: mallory) == [jose, mallory])
        #expect(decide(jose).losers(typedBefore: jose) == [jose], "the user has it again")
        #expect(decide(jose, isProven: true, isIdle: true).losers(typedBefore: nil) == [jose])
    }

    @Test func `Only an imported number opens an account, and only for a claimant that may open`() {
        let imported = ProvenClaim.Holder(userID: maria, isProven: true, mayBeOpened: true)
        let proven = ProvenClaim.Holder(userID: maria, isProven: true)
        let typed = ProvenClaim.Holder(userID: maria, isProven: false)
        func decide(_ holder: ProvenClaim.Holder?, mayOpen: Bool, isIdle: Bool? = nil) -> ProvenClaim {
            let judgement = isIdle.map { ProvenClaim.Judgement(userID: maria, isIdle: $0) }
            return ProvenClaim.decide(holder: holder, claimant: jose, mayOpen: mayOpen, judgement: judgement)
        }
        #expect(decide(imported, mayOpen: true) == .open(maria))
        #expect(decide(imported, mayOpen: false) == .judge(maria))
        #expect(decide(imported, mayOpen: false, isIdle: false) == .conflict(with: maria))
        for mayOpen in [true, false] {
            #expect(decide(nil, mayOpen: mayOpen) == .take)
            #expect(decide(proven, mayOpen: mayOpen) == .judge(maria))
            #expect(decide(proven, mayOpen: mayOpen, isIdle: true) == .takeOver(from: maria))
            #expect(decide(typed, mayOpen: mayOpen) == .takeOver(from: maria))
            let own = ProvenClaim.decide(holder: imported, claimant: maria, mayOpen: mayOpen, judgement: nil)
            #expect(own == .confirm)
        }
    }

    @Test func `An import opens for as long as an idle user keeps a number`() {
        func opens(after days: Int64) -> Bool {
            ProvenClaim.opens(
                importedAtMilliseconds: Self.day,
                idleMilliseconds: 180 * Self.day,
                nowMilliseconds: (days + 1) * Self.day
            )
        }
        #expect(opens(after: 0) && opens(after: 179))
        #expect(!opens(after: 180) && !opens(after: 1000))
        // A clock that was set back is no reason to refuse.
        #expect(opens(after: -1))
    }
}
