import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Removes the user from a group; the last member deletes the group by leaving.
    func leaveGroup(
        _ request: AppV1.LeaveGroupRequest,
        context: ServerContext
    ) async throws -> AppV1.LeaveGroupResponse {
        try await context.answer {
            let callerID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            try await groups.leave(groupID, callerID, deadline: context.deadline)
            return AppV1.LeaveGroupResponse()
        }
    }
}
