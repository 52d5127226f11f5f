import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Makes a member an admin or a plain member.
    func setMemberRole(
        _ request: AppV1.SetMemberRoleRequest,
        context: ServerContext
    ) async throws -> AppV1.SetMemberRoleResponse {
        try await context.answer {
            let callerID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            let memberID = try MemberID(request.memberID, or: InvitesError.memberNotFound)
            let role: GroupRole
            switch request.role {
            case .admin: role = .admin
            case .member: role = .member
            case .unspecified, .owner, .UNRECOGNIZED: throw InvitesError.roleInvalid
            }
            let member = try await members.setRole(
                role,
                of: memberID,
                in: groupID,
                by: callerID,
                limits: limits,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = AppV1.SetMemberRoleResponse()
            response.member = AppV1.Member(member)
            return response
        }
    }
}
