import IdentityDomain
import Logging
import Models
import RPC
import ServiceKit

/// Opens imported accounts that no user can sign in to: each absorbs the empty account that its user has signed in to.
///
/// Nothing is stored besides the absorption. A caller that wanted the opening asks again: then it is done, goes on, or is begun anew.
struct AccountOpener: Sendable {
    /// The result of an opening.
    enum Outcome: Sendable, Hashable {
        /// The account has absorbed the other one, and users sign in to it with these providers.
        case opened([String])
        /// It was begun, and others continue it if need be.
        case isUnderWay
        /// One of the two accounts is in an absorption with a third one.
        case mustWait
        /// The account stays closed.
        case refused(AccountOpening.Refusal)
    }

    let store: IdentityStore
    let absorber: AccountMerger
    let identifiers: IdentifierSource
    let clock: WallClock
    let logger: Logger

    /// Opens an account for the user of another one.
    ///
    /// - Throws: the database's errors before anything is begun.
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
                // A deletion of one of the two accounts meanwhile has ended the opening too.
                let providers = try await store.opening(of: holder, for: claimant, deadline: deadline)
                return providers.map { .opened($0) } ?? .refused(.claimantGone)
            } catch {
                logger.warning("the opening of an account is gone on with later", metadata: ["cause": "\(error)"])
                return .isUnderWay
            }
        }
    }
}
