import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Removes a member, or revokes a pending invitation.
    func removeMember(
        _ request: AppV1.RemoveMemberRequest,
        context: ServerContext
    ) async throws -> AppV1.RemoveMemberResponse {
        try await context.answer {
            let callerID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            let memberID = try MemberID(request.memberID, or: InvitesError.memberNotFound)
            try await members.remove(
                memberID,
                from: groupID,
                by: callerID,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            return AppV1.RemoveMemberResponse()
        }
    }
}
