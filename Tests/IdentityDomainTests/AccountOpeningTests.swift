import IdentityDomain
import Testing

/// Whether an imported account is opened.
struct AccountOpeningTests {
    private let proof = AccountOpening.Ground.proof("provider", isSignInProven: true)

    private func holder(
        isImported: Bool = true,
        isBlocked: Bool = false,
        identities: Int = 0,
        hasSessions: Bool = false
    ) -> AccountOpening.Holder {
        .init(isImported: isImported, isBlocked: isBlocked, identityCount: identities, hasSessions: hasSessions)
    }

    private func claimant(isBlocked: Bool = false, _ identities: [Bool] = [true]) -> AccountOpening.Claimant {
        .init(isBlocked: isBlocked, identities: identities)
    }

    @Test func `An account is opened only if everything known allows it`() {
        for identities in [0, 1, 2] {
            for bits in 0..<64 {
                func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
                let refusal = AccountOpening.refusal(
                    holder: holder(
                        isImported: bit(0),
                        isBlocked: bit(1),
                        identities: identities,
                        hasSessions: bit(2)
                    ),
                    claimant: claimant(isBlocked: bit(3), [true, bit(4)]),
                    ground: .proof("provider", isSignInProven: bit(5))
                )
                let isFit = bit(0) && !bit(1) && identities == 0 && !bit(2) && !bit(3) && bit(4) && bit(5)
                #expect((refusal == nil) == isFit, "\(bits) \(identities)")
            }
        }
    }

    @Test func `The reason of a refusal is returned`() {
        func refusal(
            _ holder: AccountOpening.Holder?,
            _ claimant: AccountOpening.Claimant?
        ) -> AccountOpening.Refusal? { AccountOpening.refusal(holder: holder, claimant: claimant, ground: proof) }
        #expect(refusal(holder(), claimant()) == nil)
        #expect(refusal(nil, nil) == .gone && refusal(holder(), nil) == .claimantGone)
        #expect(refusal(holder(isBlocked: true), claimant()) == .blocked)
        #expect(refusal(holder(), claimant(isBlocked: true)) == .blocked)
        #expect(refusal(holder(isImported: false), claimant()) == .notOpenable)
        #expect(refusal(holder(identities: 1), claimant()) == .notOpenable)
        #expect(refusal(holder(hasSessions: true), claimant()) == .notOpenable)
        #expect(refusal(holder(), claimant([])) == .notAbsorbable)
        #expect(refusal(holder(), claimant([true, false])) == .notAbsorbable)
    }

    @Test func `A token alone opens nothing, except for an operator`() {
        let bare = AccountOpening.Ground.proof("provider", isSignInProven: false)
        #expect(AccountOpening.refusal(holder: holder(), claimant: claimant(), ground: bare) == .notAbsorbable)
        #expect(AccountOpening.refusal(holder: holder(), claimant: claimant(), ground: .byOperator(nil)) == nil)
        let native = AccountOpening.refusal(
            holder: holder(isImported: false),
            claimant: claimant(),
            ground: .byOperator("anybody")
        )
        #expect(native == .notOpenable)
    }
}
