import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Ends a session of the caller's account. One that has ended is a success: the response may have been lost. The
    /// response for another user's session is the same as for one that never existed.
    func endSession(
        _ request: IdentityV1.EndSessionRequest,
        context: ServerContext
    ) async throws -> IdentityV1.EndSessionResponse {
        try await context.answer {
            let owner = try await owner(request.accessToken, context)
            let isOwn = try await store.endSession(
                SessionID(request.sessionID, or: IdentityError.sessionNotFound),
                of: owner.userID,
                reason: .ended,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            guard isOwn else { throw IdentityError.sessionNotFound }
            revocations.announce()
            return IdentityV1.EndSessionResponse()
        }
    }
}
