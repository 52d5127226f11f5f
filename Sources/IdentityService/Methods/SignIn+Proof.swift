import IdentityDomain
import Models
import RPC

extension IdentityMethods {
    /// What a sign-in comes to once profile was told of the number that came with it: before the answer, so that the app finds the number in
    /// the profile. A conflict is told by the audit log.
    ///
    /// Where the number opens the account that it was imported with, that is a session of this account. While it isn't decided nobody
    /// is told of the session that was opened, and the credentials are good again.
    ///
    /// - Throws: `IdentityError.link(.absorptionUnderWay)`, or what an opened session throws.
    func outcomeOfProof(
        _ first: SignInOutcome,
        _ signIn: SignIn,
        nowMilliseconds: Int64,
        _ context: ServerContext
    ) async throws -> SignInOutcome {
        guard let proof = first.phoneProof else { return first }
        let told = await phoneProofs.tell(proof, deadline: context.deadline)
        switch told {
        case .settled(.proven), .settled(.outdated), .settled(.conflict), .settled(.notAllowed), nil: return first
        case .opening, .opened, .absorbed, .settled(.accountClosed): break
        }
        try await store.undo(
            signIn,
            first.session.facts.sessionID,
            nowMilliseconds: nowMilliseconds,
            deadline: context.deadline
        )
        if told == .opening { throw IdentityError.link(.absorptionUnderWay) }
        var again = signIn
        // It was used up by the first. Nor is an account made: whoever was deleted meanwhile asks for one by the next try.
        (again.ticketHash, again.createsAccount) = (nil, false)
        do {
            return try await store.openSession(
                again,
                new: newSession(),
                phone: SignInPhone(again, eventID: identifiers.make(), keys: phoneKeys),
                nowMilliseconds: nowMilliseconds,
                deadline: context.deadline
            )
        } catch IdentityError.accountNotFound {
            throw IdentityError.link(.absorptionUnderWay)
        }
    }
}
