import API
import IdentityDomain
import Models
import RPC

/// What the methods about a person's own sessions have in common.
extension IdentityMethods {
    /// The account and the session of a token that lets somebody in now, as CheckSession judges it outside of dialects.
    ///
    /// Sessions without proof are refused by that, as they are everywhere but in their dialect: an attacker who knows a user's id
    /// opens one, and must neither see the user's devices nor sign them out. It may end itself, by SignOut.
    nonisolated(nonsending) func owner(
        _ accessToken: String,
        _ context: ServerContext
    ) async throws -> (userID: UserID, sessionID: SessionID, isGuest: Bool) {
        var check = IdentityV1.CheckSessionRequest()
        check.accessToken = accessToken
        let session = try await checkSession(check, context: context)
        return (
            try UserID(session.userID, or: IdentityError.sessionInvalid),
            try SessionID(session.sessionID, or: IdentityError.sessionInvalid),
            session.proof == .guest
        )
    }
}
