import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Lists the users whom the user blocks, in the order of their ids.
    func listBlockedInviters(
        _ request: AppV1.ListBlockedInvitersRequest,
        context: ServerContext
    ) async throws -> AppV1.ListBlockedInvitersResponse {
        try await context.answer {
            let userID = try callers.user(of: context)
            let tokens = PageTokens(.blockedInviters, of: userID, sealedBy: currentCursors.current)
            let page = try tokens.page(size: request.pageSize, token: request.pageToken)
            // One entry more than requested shows whether there is another page.
            let found = try await blocks.list(
                of: userID,
                after: page.after,
                limit: page.size + 1,
                deadline: context.deadline
            )
            let shown = found.prefix(page.size)
            var response = AppV1.ListBlockedInvitersResponse()
            response.inviters = shown.map { AppV1.BlockedInviter($0) }
            if found.count > page.size, let last = shown.last {
                response.nextPageToken = tokens.token(after: last.userID)
            }
            return response
        }
    }
}
