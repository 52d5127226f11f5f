import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Lists the user's invitations and requests to join, newest first.
    func listMyInvitations(
        _ request: AppV1.ListMyInvitationsRequest,
        context: ServerContext
    ) async throws -> AppV1.ListMyInvitationsResponse {
        try await context.answer {
            let userID = try callers.user(of: context)
            let tokens = PageTokens(.invitations, of: userID, sealedBy: currentCursors.current)
            let page = try tokens.page(size: request.pageSize, token: request.pageToken)
            // One entry more than requested shows whether there is another page.
            let found = try await invitations.list(
                for: userID,
                after: page.after,
                limit: page.size + 1,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            let shown = found.prefix(page.size)
            var response = AppV1.ListMyInvitationsResponse()
            response.invitations = shown.map { AppV1.Invitation($0) }
            if found.count > page.size, let last = shown.last {
                response.nextPageToken = tokens.token(after: last.id)
            }
            return response
        }
    }
}
