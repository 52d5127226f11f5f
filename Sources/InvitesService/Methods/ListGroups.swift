import API
import InvitesDomain
import Models
import RPC

extension InvitesMethods {
    /// Lists the groups that a user is a member of, newest first.
    func listGroups(
        _ request: InvitesV1.ListGroupsRequest,
        context: ServerContext
    ) async throws -> InvitesV1.ListGroupsResponse {
        do {
            let userID = try UserID.parse(request.userID)
            let page = try Page(size: Int(request.pageSize), token: request.pageToken, list: .groups)
            // One more than asked for tells whether there is another page.
            let found = try await groups.groups(
                of: userID,
                after: page.after,
                limit: page.size + 1,
                deadline: context.deadline
            )
            let shown = found.prefix(page.size)
            var response = InvitesV1.ListGroupsResponse()
            response.groups = shown.map(InvitesV1.Group.init)
            if found.count > page.size, let last = shown.last {
                response.nextPageToken = Page.token(after: Page.Cursor(last.id), in: .groups)
            }
            return response
        } catch {
            throw ErrorMap.rpcError(error, mayBeRepeated: context.method.isIdempotent)
        }
    }
}
