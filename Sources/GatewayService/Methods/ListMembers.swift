import API

extension AppMethods {
    /// A page of a group's members and pending members, oldest first, with what profile knows of those who are users.
    func listMembers(
        _ request: AppV1.ListMembersRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.ListMembersResponse {
        var call = InvitesV1.ListMembersRequest()
        call.groupID = request.groupID
        call.pageSize = request.pageSize
        call.pageToken = request.pageToken
        let options = user.caller.callOptions().proving(user.proofs.invites)
        let page = try await invites.listMembers(call, options: options)
        var response = AppV1.ListMembersResponse()
        let known = await memberNames.profiles(of: page.members, for: user)
        response.members = page.members.map { AppV1.Member($0, known[$0.userID], avatars) }
        response.nextPageToken = page.nextPageToken
        return response
    }
}
