import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Removes a passkey from the caller's account, and ends the sessions that it opened.
    func removePasskey(
        _ request: IdentityV1.RemovePasskeyRequest,
        context: ServerContext
    ) async throws -> IdentityV1.RemovePasskeyResponse {
        try await context.answer {
            let owner = try await owner(request.accessToken, context)
            let hasEnded = try await store.removePasskey(
                PasskeyID(request.passkeyID, or: IdentityError.passkey(.notFound)),
                by: LinkingSession(userID: owner.userID, sessionID: owner.sessionID),
                configured: waysIn,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            revocations.announce()
            var response = IdentityV1.RemovePasskeyResponse()
            if hasEnded { response.endedSessionID = owner.sessionID.description }
            return response
        }
    }
}
