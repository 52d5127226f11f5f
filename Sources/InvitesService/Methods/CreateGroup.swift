import API
import InvitesDomain
import Models
import RPC
import ServiceKit

extension InvitesMethods {
    /// Creates a group with its creator as the first member, or returns the one that was created with the same key.
    func createGroup(
        _ request: InvitesV1.CreateGroupRequest,
        context: ServerContext
    ) async throws -> InvitesV1.CreateGroupResponse {
        try await context.answer(mayBeRepeated: !request.idempotencyKey.isEmpty) {
            let ownerID = try UserID(request.userID, or: InvitesFault.userIDInvalid)
            let key = try IdempotencyKey.parse(request.idempotencyKey)
            let wanted = try NewGroup(name: request.name, ownerDisplayName: request.ownerDisplayName)
            let group = Group(
                id: identifiers.make(),
                name: wanted.name,
                ownerID: ownerID,
                createdAtMilliseconds: clock.nowMilliseconds
            )
            let created = try await groups.create(
                GroupStore.Creation(
                    group: group,
                    firstMember: identifiers.make(),
                    ownerDisplayName: wanted.ownerDisplayName
                ),
                key: key,
                limits: limits,
                deadline: context.deadline
            )
            var response = InvitesV1.CreateGroupResponse()
            response.group = InvitesV1.Group(created)
            return response
        }
    }
}
