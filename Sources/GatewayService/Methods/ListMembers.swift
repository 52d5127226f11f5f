import API

extension AppMethods {
    /// A page of a group's members and pending members, oldest first, with what profile knows of the users among them.
    func listMembers(
        _ request: AppV1.ListMembersRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.ListMembersResponse {
        var page = try await groups.listMembers(request, options: groupOptions(user))
        let known = await memberNames.profiles(of: page.members, for: user)
        for index in page.members.indices {
            if let profile = known[page.members[index].userID] { page.members[index].add(profile, avatars) }
        }
        return page
    }
}
