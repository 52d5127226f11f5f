import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension InvitesMethods {
    /// Keeps a user from making the caller a member by number.
    func blockInviter(
        _ request: InvitesV1.BlockInviterRequest,
        context: ServerContext
    ) async throws -> InvitesV1.BlockInviterResponse {
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
            return InvitesV1.BlockInviterResponse()
        }
    }
}
