import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Makes a link by which people join a group.
    func createGroupLink(
        _ request: AppV1.CreateGroupLinkRequest,
        context: ServerContext
    ) async throws -> AppV1.CreateGroupLinkResponse {
        try await context.answer {
            let userID = try callers.fullUser(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            let wanted = try NewGroupLink(
                lifetimeSeconds: Int(request.lifetimeSeconds),
                usesMax: Int(request.usesMax)
            )
            let (link, token) = try await links.create(
                wanted,
                id: identifiers.make(),
                for: groupID,
                by: userID,
                limits: limits,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = AppV1.CreateGroupLinkResponse()
            response.link = AppV1.GroupLink(link)
            response.token = token.text
            return response
        }
    }
}
