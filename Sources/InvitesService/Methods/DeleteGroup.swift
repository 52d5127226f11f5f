import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Deletes a group with all its members.
    func deleteGroup(
        _ request: AppV1.DeleteGroupRequest,
        context: ServerContext
    ) async throws -> AppV1.DeleteGroupResponse {
        try await context.answer {
            let callerID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            try await groups.delete(groupID, by: callerID, deadline: context.deadline)
            return AppV1.DeleteGroupResponse()
        }
    }
}
