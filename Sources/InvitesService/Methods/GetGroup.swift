import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Returns a group to a member.
    func getGroup(
        _ request: AppV1.GetGroupRequest,
        context: ServerContext
    ) async throws -> AppV1.GetGroupResponse {
        try await context.answer {
            let callerID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            guard let group = try await groups.group(groupID, askedBy: callerID, deadline: context.deadline) else {
                throw InvitesError.notAMember
            }
            var response = AppV1.GetGroupResponse()
            response.group = AppV1.Group(group)
            return response
        }
    }
}
