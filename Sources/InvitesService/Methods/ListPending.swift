import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Lists the people whom a group waits for or who are in doubt, oldest first. Only members may ask.
    func listPending(
        _ request: AppV1.ListPendingRequest,
        context: ServerContext
    ) async throws -> AppV1.ListPendingResponse {
        try await context.answer {
            let userID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            let tokens = PageTokens(.pending, of: userID, in: groupID, sealedBy: currentCursors.current)
            let page = try tokens.page(size: request.pageSize, token: request.pageToken)
            // One entry more than requested shows whether there is another page.
            let found = try await pending.list(
                of: groupID,
                askedBy: userID,
                after: page.after,
                limit: page.size + 1,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            let shown = found.prefix(page.size)
            var response = AppV1.ListPendingResponse()
            response.people = shown.map { AppV1.PendingPerson($0) }
            if found.count > page.size, let last = shown.last {
                response.nextPageToken = tokens.token(after: last.facts.id)
            }
            return response
        }
    }
}
