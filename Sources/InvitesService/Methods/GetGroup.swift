import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension InvitesMethods {
    /// A group, for those who are in it.
    func getGroup(
        _ request: InvitesV1.GetGroupRequest,
        context: ServerContext
    ) async throws -> InvitesV1.GetGroupResponse {
        try await context.answer {
            let callerID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            guard let group = try await groups.group(groupID, askedBy: callerID, deadline: context.deadline) else {
                throw InvitesError.notAMember
            }
            var response = InvitesV1.GetGroupResponse()
            response.group = InvitesV1.Group(group)
            return response
        }
    }
}
