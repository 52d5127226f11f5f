import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Ends a session of the caller's account. One that is over is ended: the answer before may have been lost. One of
    /// somebody else's is told from one that never was by nothing.
    func endSession(
        _ request: IdentityV1.EndSessionRequest,
        context: ServerContext
    ) async throws -> IdentityV1.EndSessionResponse {
        try await context.answer {
            let owner = try await owner(request.accessToken, context)
            let isOwn = try await store.endSession(
                SessionID(request.sessionID, or: IdentityError.sessionNotFound),
                of: owner.userID,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            guard isOwn else { throw IdentityError.sessionNotFound }
            revocations.announce()
            return IdentityV1.EndSessionResponse()
        }
    }
}
