import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Creates a group with its creator as the first member, or returns the one that was created with the same key.
    func createGroup(
        _ request: AppV1.CreateGroupRequest,
        context: ServerContext
    ) async throws -> AppV1.CreateGroupResponse {
        try await context.answer(mayBeRepeated: !request.idempotencyKey.isEmpty) {
            let ownerID = try callers.user(of: context)
            let key = try IdempotencyKey.parse(request.idempotencyKey)
            let wanted = try NewGroup(
                name: request.name,
                ownerDisplayName: String(
                    decoding: context.metadata.firstBinary(CallerName.metadataName) ?? [],
                    as: UTF8.self
                ),
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
            var response = AppV1.CreateGroupResponse()
            response.group = AppV1.Group(created)
            return response
        }
    }
}
