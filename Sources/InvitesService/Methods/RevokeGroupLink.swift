import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Ends a link; succeeds if it has ended before.
    func revokeGroupLink(
        _ request: AppV1.RevokeGroupLinkRequest,
        context: ServerContext
    ) async throws -> AppV1.RevokeGroupLinkResponse {
        try await context.answer {
            let userID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            let linkID = try GroupLinkID(request.linkID, or: InvitesError.invitation(.linkInvalid))
            try await links.revoke(
                linkID,
                of: groupID,
                by: userID,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            return AppV1.RevokeGroupLinkResponse()
        }
    }
}
