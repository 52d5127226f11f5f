import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension InvitesMethods {
    /// Deletes a group with everybody in it.
    func deleteGroup(
        _ request: InvitesV1.DeleteGroupRequest,
        context: ServerContext
    ) async throws -> InvitesV1.DeleteGroupResponse {
        try await context.answer {
            let callerID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            try await groups.delete(groupID, by: callerID, deadline: context.deadline)
            return InvitesV1.DeleteGroupResponse()
        }
    }
}
