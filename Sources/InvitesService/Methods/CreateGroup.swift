import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension InvitesMethods {
    /// Creates a group with its creator as the first member, or returns the one that was created with the same key.
    func createGroup(
        _ request: InvitesV1.CreateGroupRequest,
        context: ServerContext
    ) async throws -> InvitesV1.CreateGroupResponse {
        try await context.answer(mayBeRepeated: !request.idempotencyKey.isEmpty) {
            let ownerID = try callers.user(of: context)
            let key = try IdempotencyKey.parse(request.idempotencyKey)
            let wanted = try NewGroup(
                name: request.name,
                ownerDisplayName: request.ownerDisplayName,
                openness: try GroupOpenness.parse(request.openness)
            )
            let group = Group(
                id: identifiers.make(),
                name: wanted.name,
                ownerID: ownerID,
                openness: wanted.openness ?? groupOpenness,
                callerRole: .owner,
                createdAtMilliseconds: clock.nowMilliseconds
            )
            let created = try await groups.create(
                GroupStore.Creation(
                    group: group,
                    firstMember: identifiers.make(),
                    ownerDisplayName: wanted.ownerDisplayName,
                    requestText: wanted.requestText
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
