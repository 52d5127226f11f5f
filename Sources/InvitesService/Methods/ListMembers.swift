import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Lists the members and pending members of a group, oldest first. Only members may ask.
    func listMembers(
        _ request: AppV1.ListMembersRequest,
        context: ServerContext
    ) async throws -> AppV1.ListMembersResponse {
        try await context.answer {
            let userID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            let tokens = PageTokens(.members, of: userID, in: groupID, sealedBy: currentCursors.current)
            let page = try tokens.page(size: request.pageSize, token: request.pageToken)
            // One entry more than requested shows whether there is another page.
            let found = try await members.list(
                of: groupID,
                askedBy: userID,
                after: page.after,
                limit: page.size + 1,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            let shown = found.prefix(page.size)
            var response = AppV1.ListMembersResponse()
            response.members = shown.map(AppV1.Member.init)
            if found.count > page.size, let last = shown.last {
                response.nextPageToken = tokens.token(after: last.id)
            }
            return response
        }
    }
}
