import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Records that the user declines an invitation, or withdraws their request to join.
    func declineInvitation(
        _ request: AppV1.DeclineInvitationRequest,
        context: ServerContext
    ) async throws -> AppV1.DeclineInvitationResponse {
        try await context.answer {
            let userID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            let memberID = try MemberID(request.memberID, or: InvitesError.invitation(.notFound))
            try await invitations.decline(memberID, in: groupID, by: userID, deadline: context.deadline)
            return AppV1.DeclineInvitationResponse()
        }
    }
}
