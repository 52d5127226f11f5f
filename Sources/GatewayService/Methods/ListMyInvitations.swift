import API

extension AppMethods {
    /// A page of what waits for the user, newest first.
    func listMyInvitations(
        _ request: AppV1.ListMyInvitationsRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.ListMyInvitationsResponse {
        var call = InvitesV1.ListMyInvitationsRequest()
        call.pageSize = request.pageSize
        call.pageToken = request.pageToken
        let options = user.caller.callOptions().proving(user.proofs.invites)
        let page = try await invites.listMyInvitations(call, options: options)
        var response = AppV1.ListMyInvitationsResponse()
        response.invitations = page.invitations.map { AppV1.Invitation($0) }
        response.nextPageToken = page.nextPageToken
        return response
    }
}
