import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf

extension GroupMethods {
    /// Returns the group of a link, before joining.
    func previewGroupLink(
        _ request: AppV1.PreviewGroupLinkRequest,
        context: ServerContext
    ) async throws -> AppV1.PreviewGroupLinkResponse {
        try await context.answer {
            let visit = GroupLinkStore.Visit(
                userID: try callers.user(of: context),
                addressCode: addressKey.code(of: context.metadata),
                nowMilliseconds: clock.nowMilliseconds
            )
            let target = try await links.target(of: request.token, visit, limits: limits, deadline: context.deadline)

            if target.isOver, !target.isMember { throw InvitesError.invitation(.linkOver) }
            var response = AppV1.PreviewGroupLinkResponse()
            response.groupID = target.groupID.description
            response.groupName = target.groupName.value
            response.openness = AppV1.GroupOpenness(target.openness)
            response.isMember = target.isMember
            response.expiresAt = Google_Protobuf_Timestamp(milliseconds: target.expiresAtMilliseconds)
            return response
        }
    }
}
