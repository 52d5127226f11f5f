import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Keeps a user from making the caller a member by number.
    func blockInviter(
        _ request: AppV1.BlockInviterRequest,
        context: ServerContext
    ) async throws -> AppV1.BlockInviterResponse {
        try await context.answer {
            let userID = try callers.user(of: context)
            let inviterID = try UserID(request.inviterUserID, or: InvitesError.userIDInvalid)
            guard inviterID != userID else { throw InvitesError.invitation(.cannotBlockSelf) }
            try await blocks.block(
                inviterID,
                by: userID,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            return AppV1.BlockInviterResponse()
        }
    }
}
