import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Notes that the user declines what waits for them, or takes their request to join back.
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
