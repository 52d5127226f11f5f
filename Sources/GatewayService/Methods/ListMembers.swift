import API

extension AppMethods {
    /// A page of a group's members and pending members, oldest first.
    func listMembers(
        _ request: AppV1.ListMembersRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.ListMembersResponse {
        var call = InvitesV1.ListMembersRequest()
        call.userID = user.id
        call.groupID = request.groupID
        call.pageSize = request.pageSize
        call.pageToken = request.pageToken
        let page = try await invites.listMembers(call, options: user.caller.callOptions())
        var response = AppV1.ListMembersResponse()
        response.members = page.members.map { AppV1.Member($0) }
        response.nextPageToken = page.nextPageToken
        return response
    }
}
