import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Lists the groups that the user is a member of, newest first.
    func listGroups(
        _ request: AppV1.ListGroupsRequest,
        context: ServerContext
    ) async throws -> AppV1.ListGroupsResponse {
        try await context.answer {
            let userID = try callers.user(of: context)
            let tokens = PageTokens(.groups, of: userID, sealedBy: currentCursors.current)
            let page = try tokens.page(size: request.pageSize, token: request.pageToken)
            // One entry more than requested shows whether there is another page.
            let found = try await groups.list(
                of: userID,
                after: page.after,
                limit: page.size + 1,
                deadline: context.deadline
            )
            let shown = found.prefix(page.size)
            var response = AppV1.ListGroupsResponse()
            response.groups = shown.map(AppV1.Group.init)
            if found.count > page.size, let last = shown.last {
                response.nextPageToken = tokens.token(after: last.id)
            }
            return response
        }
    }
}
