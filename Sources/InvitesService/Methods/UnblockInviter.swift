import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Lets a user make the caller a member by number again.
    func unblockInviter(
        _ request: AppV1.UnblockInviterRequest,
        context: ServerContext
    ) async throws -> AppV1.UnblockInviterResponse {
        try await context.answer {
            let userID = try callers.user(of: context)
            let inviterID = try UserID(request.inviterUserID, or: InvitesError.userIDInvalid)
            try await blocks.unblock(
                inviterID,
                by: userID,
                limits: limits,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            return AppV1.UnblockInviterResponse()
        }
    }
}
