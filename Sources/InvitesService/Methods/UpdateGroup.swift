import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Changes the fields of a group that are present.
    func updateGroup(
        _ request: AppV1.UpdateGroupRequest,
        context: ServerContext
    ) async throws -> AppV1.UpdateGroupResponse {
        try await context.answer {
            let callerID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            let name = request.hasName ? try NewGroup.name(request.name) : nil
            let group = try await groups.change(
                groupID,
                GroupStore.Change(name: name, openness: try GroupOpenness.parse(request.openness)),
                by: callerID,
                limits: limits,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = AppV1.UpdateGroupResponse()
            response.group = AppV1.Group(group)
            return response
        }
    }
}
