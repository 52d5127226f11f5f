import API
import InvitesDomain
import Models
import RPC

extension InvitesMethods {
    /// Creates a group with its creator as the first member.
    func createGroup(
        _ request: InvitesV1.CreateGroupRequest,
        context: ServerContext
    ) async throws -> InvitesV1.CreateGroupResponse {
        do {
            let ownerID = try UserID.parse(request.userID)
            let wanted = try NewGroup(name: request.name, ownerDisplayName: request.ownerDisplayName)
            let group = Group(
                id: identifiers.make(),
                name: wanted.name,
                ownerID: ownerID,
                createdAtMilliseconds: clock.nowMilliseconds
            )
            try await groups.create(
                group,
                firstMember: identifiers.make(),
                ownerDisplayName: wanted.ownerDisplayName,
                limits: limits,
                deadline: context.deadline
            )
            var response = InvitesV1.CreateGroupResponse()
            response.group = InvitesV1.Group(group)
            return response
        } catch {
            throw ErrorMap.rpcError(error)
        }
    }
}
