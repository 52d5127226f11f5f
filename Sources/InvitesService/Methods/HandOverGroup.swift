import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Makes another member the owner.
    func handOverGroup(
        _ request: AppV1.HandOverGroupRequest,
        context: ServerContext
    ) async throws -> AppV1.HandOverGroupResponse {
        try await context.answer {
            let callerID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            let memberID = try MemberID(request.memberID, or: InvitesError.memberNotFound)
            let group = try await groups.handOver(
                groupID,
                to: memberID,
                by: callerID,
                limits: limits,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = AppV1.HandOverGroupResponse()
            response.group = AppV1.Group(group)
            return response
        }
    }
}
