import API

extension AppMethods {
    /// Joins the group of a link, as a member or as one who asks to.
    func joinByLink(_ request: AppV1.JoinByLinkRequest, _ user: SignedInUser) async throws -> AppV1.JoinByLinkResponse {
        var call = InvitesV1.JoinByLinkRequest()
        call.token = request.token
        let options = authentication.callOptionsWithAddress(user.caller).proving(user.proofs.invites)
        let joined = try await invites.joinByLink(call, options: options)
        var response = AppV1.JoinByLinkResponse()
        response.groupID = joined.groupID
        response.groupName = joined.groupName
        response.memberID = joined.memberID
        response.state = joined.state == .member ? .member : .pending
        return response
    }
}
