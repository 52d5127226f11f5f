import API
import SwiftProtobuf

extension AppMethods {
    /// What a link is of, before joining.
    func previewGroupLink(
        _ request: AppV1.PreviewGroupLinkRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.PreviewGroupLinkResponse {
        var call = InvitesV1.PreviewGroupLinkRequest()
        call.token = request.token
        let options = authentication.callOptionsWithAddress(user.caller).proving(user.proofs.invites)
        let target = try await invites.previewGroupLink(call, options: options)
        var response = AppV1.PreviewGroupLinkResponse()
        response.groupID = target.groupID
        response.groupName = target.groupName
        response.openness = AppV1.GroupOpenness(target.openness)
        response.isMember = target.isMember
        response.expiresAt = Google_Protobuf_Timestamp(milliseconds: target.expiresAtMs)
        return response
    }
}
