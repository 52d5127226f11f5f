import IdentityDomain
import Testing

/// What an act on the ways into an account needs.
struct AccountActTests {
    private func refusal(
        _ proof: Proof,
        age milliseconds: Int64 = 0,
        recentSeconds: Int64 = 600,
        act: AccountAct = .linkProvider
    ) -> AccountAct.Refusal? {
        act.refusal(
            proof: proof,
            signedInMilliseconds: 1_000_000_000 - milliseconds,
            nowMilliseconds: 1_000_000_000,
            recentSeconds: recentSeconds
        )
    }

    @Test(arguments: AccountAct.allCases)
    func `Only a nonce, a code or a passkey proves one`(act: AccountAct) {
        for proof in Proof.allCases where proof != .guest {
            let isEnough = proof == .nonce || proof == .code || proof == .passkey
            #expect(refusal(proof, act: act) == (isEnough ? nil : .proofRequired), "\(proof)")
        }
    }

    @Test(arguments: AccountAct.allCases)
    func `A guest's session is enough, however old, for what gives nobody a second way in`(act: AccountAct) {
        let allowed: Set<AccountAct> = [.linkProvider, .deleteAccount, .exportData, .handOverGroup]
        #expect(refusal(.guest, age: 900_000_000, act: act) == (allowed.contains(act) ? nil : .guestNotAllowed))
    }

    @Test func `The sign-in must be recent, and none is too old where no age is named`() {
        #expect(refusal(.nonce, age: 600_000) == nil)
        #expect(refusal(.nonce, age: 600_001) == .recentSignInRequired)
        #expect(refusal(.code, age: 1_000, recentSeconds: 0) == nil)
        #expect(refusal(.code, age: 900_000_000, recentSeconds: 0) == nil)
        // A clock that was ahead.
        #expect(refusal(.code, age: -5_000) == nil)
    }

    @Test func `Signing in again doesn't help a weak proof, so that is what is said first`() {
        #expect(refusal(.fresh, age: 900_000) == .proofRequired)
        #expect(refusal(.accessToken, recentSeconds: 0) == .proofRequired)
    }

    @Test func `No time of a row is too far off to be judged`() {
        for (signedIn, now) in [(Int64.min, Int64.max), (.max, .min), (.min, 0), (0, .max)] {
            let refusal = AccountAct.unlinkProvider.refusal(
                proof: .nonce,
                signedInMilliseconds: signedIn,
                nowMilliseconds: now,
                recentSeconds: 600
            )
            #expect(refusal == (signedIn < now ? .recentSignInRequired : nil))
        }
    }
}
