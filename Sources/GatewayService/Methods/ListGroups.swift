import API

extension AppMethods {
    /// A page of the user's groups, newest first.
    func listGroups(_ request: AppV1.ListGroupsRequest, _ user: SignedInUser) async throws -> AppV1.ListGroupsResponse {
        var call = InvitesV1.ListGroupsRequest()
        call.pageSize = request.pageSize
        call.pageToken = request.pageToken
        let options = user.caller.callOptions().proving(user.proofs.invites)
        let page = try await invites.listGroups(call, options: options)
        var response = AppV1.ListGroupsResponse()
        response.groups = page.groups.map { AppV1.Group($0) }
        response.nextPageToken = page.nextPageToken
        return response
    }
}
