import API

extension AppMethods {
    /// A page of those whom the user blocks.
    func listBlockedInviters(
        _ request: AppV1.ListBlockedInvitersRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.ListBlockedInvitersResponse {
        var call = InvitesV1.ListBlockedInvitersRequest()
        call.pageSize = request.pageSize
        call.pageToken = request.pageToken
        let options = user.caller.callOptions().proving(user.proofs.invites)
        let page = try await invites.listBlockedInviters(call, options: options)
        var response = AppV1.ListBlockedInvitersResponse()
        response.inviters = page.inviters.map { AppV1.BlockedInviter($0) }
        response.nextPageToken = page.nextPageToken
        return response
    }
}
