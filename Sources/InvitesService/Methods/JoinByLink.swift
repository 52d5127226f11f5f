import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Joins the group of a link, as a member or with a request to join.
    func joinByLink(
        _ request: AppV1.JoinByLinkRequest,
        context: ServerContext
    ) async throws -> AppV1.JoinByLinkResponse {
        try await context.answer {
            let visit = GroupLinkStore.Visit(
                userID: try callers.user(of: context),
                addressCode: addressKey.code(of: context.metadata),
                nowMilliseconds: clock.nowMilliseconds
            )
            let target = try await links.target(of: request.token, visit, limits: limits, deadline: context.deadline)
            let outcome = try await links.join(
                target,
                visit,
                memberID: identifiers.make(),
                limits: limits,
                deadline: context.deadline
            )
            var response = AppV1.JoinByLinkResponse()
            response.groupID = target.groupID.description
            response.groupName = target.groupName.value
            response.memberID = outcome.memberID.description
            response.state = outcome.isMember ? .member : .pending
            return response
        }
    }
}
