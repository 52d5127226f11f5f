import IdentityDomain
import Models
import RPC

extension IdentityMethods {
    /// Delivers the sign-in's phone number to profile before the response, so that the app finds it in the profile, and returns the sign-in's
    /// outcome. A conflict is in the audit log.
    ///
    /// Where the number opens the account that it was imported with, that is a session of this account. While it isn't decided the
    /// opened session is not returned, and the credentials are valid again.
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
        // It was used up by the first. Nor is an account made: a user who was deleted meanwhile gets one by the next try.
        (again.ticketHash, again.createsAccount) = (nil, false)
        do {
            return try await store.openSession(
                again,
                new: newSession(boundTo: first.session.facts.key),
                phone: SignInPhone(again, eventID: identifiers.make(), keys: phoneKeys),
                nowMilliseconds: nowMilliseconds,
                deadline: context.deadline
            )
        } catch IdentityError.accountNotFound {
            throw IdentityError.link(.absorptionUnderWay)
        }
    }
}
