import API
import IdentityDomain
import Models
import RPC

extension IdentityMethods {
    /// Links by tickets of a sign-in in a browser that was begun for a session: who redeems them has the verifier of who began it, and no
    /// token of that session. The session must be live, as if its token had come along.
    func linkByTickets(
        _ request: IdentityV1.LinkProviderRequest,
        _ context: ServerContext
    ) async throws -> IdentityV1.LinkProviderResponse {
        guard try CredentialKind(request.credentials) == .tickets else { throw IdentityError.accessTokenInvalid }
        guard let verified = try await verified(request.credentials, context) else {
            // The answer before may have been lost: a guest's has a session that the tickets opened.
            let outcome = try await store.sessionBoughtByTickets(
                Self.fingerprint(ofTickets: request.credentials),
                expectedSubject: "",
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            return try await response(outcome.session.facts.userID, outcome.session, request.credentials, context)
        }
        guard let sessionID = verified.evidence.linkingSession else { throw IdentityError.accessTokenInvalid }
        let session = try await store.introspectedSession(
            sessionID,
            sessionsFrom: sessionEpoch.sessionsFrom(deadline: context.deadline),
            deadline: context.deadline
        )
        guard let state = session?.state.session else { throw IdentityError.sessionInvalid }
        try state.checkAlive(for: state.userID, nowMilliseconds: clock.nowMilliseconds)
        try state.checkProof(in: "")
        return try await link(request, of: (state.userID, sessionID, state.isGuest), context)
    }
}
