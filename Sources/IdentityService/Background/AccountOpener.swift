import IdentityDomain
import Logging
import Models
import RPC
import ServiceKit

/// Opens imported accounts that nobody can sign in to: each absorbs the empty account by which its person came.
///
/// Nothing is kept beside the absorption: whoever wanted the opening asks again, and either it was done, or goes on, or is begun anew.
struct AccountOpener: Sendable {
    /// What came of it.
    enum Outcome: Sendable, Hashable {
        /// The account has absorbed the other one, and is signed in to by these providers.
        case opened([String])
        /// It was begun, and is gone on with by others if need be.
        case isUnderWay
        /// One of the two accounts is in an absorption with a third one.
        case mustWait
        /// It stays closed.
        case refused(AccountOpening.Refusal)
    }

    let store: IdentityStore
    let absorber: AccountMerger
    let identifiers: IdentifierSource
    let clock: WallClock
    let logger: Logger

    /// Opens an account for the person of another one.
    ///
    /// - Throws: what the database throws before anything is begun.
    func open(
        _ holder: UserID,
        for claimant: UserID,
        _ ground: AccountOpening.Ground,
        deadline: Deadline?
    ) async throws -> Outcome {
        let begun = try await store.beginOpening(
            identifiers.make(),
            of: holder,
            for: claimant,
            ground,
            nowMilliseconds: clock.nowMilliseconds,
            deadline: deadline
        )
        switch begun {
        case .isUnderWay: return .isUnderWay
        case .mustWait: return .mustWait
        case .refused(let refusal): return .refused(refusal)
        case .begun(let absorption):
            do {
                guard try await absorber.finish(absorption, isNew: true) != nil else {
                    return .refused(.notAbsorbable)
                }
                // Whoever deleted one of the two meanwhile has ended it too.
                let providers = try await store.opening(of: holder, for: claimant, deadline: deadline)
                return providers.map { .opened($0) } ?? .refused(.claimantGone)
            } catch {
                logger.warning("the opening of an account is gone on with later", metadata: ["cause": "\(error)"])
                return .isUnderWay
            }
        }
    }
}
