import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension InvitesMethods {
    /// Makes a member an admin or a plain member.
    func setMemberRole(
        _ request: InvitesV1.SetMemberRoleRequest,
        context: ServerContext
    ) async throws -> InvitesV1.SetMemberRoleResponse {
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
            var response = InvitesV1.SetMemberRoleResponse()
            response.member = InvitesV1.Member(member)
            return response
        }
    }
}
