import API

extension AppMethods {
    /// A group's links that are good, newest first.
    func listGroupLinks(
        _ request: AppV1.ListGroupLinksRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.ListGroupLinksResponse {
        var call = InvitesV1.ListGroupLinksRequest()
        call.groupID = request.groupID
        let options = user.caller.callOptions().proving(user.proofs.invites)
        var response = AppV1.ListGroupLinksResponse()
        response.links = try await invites.listGroupLinks(call, options: options).links.map { AppV1.GroupLink($0) }
        return response
    }
}
