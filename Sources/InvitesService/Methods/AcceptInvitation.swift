import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Makes the user a member by accepting an invitation.
    func acceptInvitation(
        _ request: AppV1.AcceptInvitationRequest,
        context: ServerContext
    ) async throws -> AppV1.AcceptInvitationResponse {
        try await context.answer {
            let userID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            let memberID = try MemberID(request.memberID, or: InvitesError.invitation(.notFound))
            let member = try await invitations.accept(
                memberID,
                in: groupID,
                by: userID,
                limits: limits,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = AppV1.AcceptInvitationResponse()
            response.member = AppV1.Member(member)
            return response
        }
    }
}
