import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Cancels the scheduled deletion of the caller's account. None that is scheduled is a success: the answer before may have been
    /// lost.
    func cancelDeletion(
        _ request: IdentityV1.CancelDeletionRequest,
        context: ServerContext
    ) async throws -> IdentityV1.CancelDeletionResponse {
        try await context.answer {
            let owner = try await owner(request.accessToken, context)
            let wasScheduled = try await store.cancelDeletion(
                of: owner.userID,
                by: owner.sessionID,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            if wasScheduled { deletions.count(.cancelled) }
            return IdentityV1.CancelDeletionResponse()
        }
    }
}
