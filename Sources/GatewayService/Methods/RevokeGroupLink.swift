import API

extension AppMethods {
    /// Ends a link. One that is over is a success.
    func revokeGroupLink(
        _ request: AppV1.RevokeGroupLinkRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.RevokeGroupLinkResponse {
        var call = InvitesV1.RevokeGroupLinkRequest()
        call.groupID = request.groupID
        call.linkID = request.linkID
        let options = user.caller.callOptions().proving(user.proofs.invites)
        _ = try await invites.revokeGroupLink(call, options: options)
        return AppV1.RevokeGroupLinkResponse()
    }
}
