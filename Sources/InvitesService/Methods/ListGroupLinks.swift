import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Lists a group's links that are good, newest first.
    func listGroupLinks(
        _ request: AppV1.ListGroupLinksRequest,
        context: ServerContext
    ) async throws -> AppV1.ListGroupLinksResponse {
        try await context.answer {
            let userID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            let found = try await links.list(
                of: groupID,
                askedBy: userID,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = AppV1.ListGroupLinksResponse()
            response.links = found.map { AppV1.GroupLink($0) }
            return response
        }
    }
}
