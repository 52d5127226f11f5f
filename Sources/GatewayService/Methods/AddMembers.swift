import API

extension AppMethods {
    /// Adds people by phone number, each as ``addMember(_:_:)`` does, and tells of each what came of it.
    func addMembers(_ request: AppV1.AddMembersRequest, _ user: SignedInUser) async throws -> AppV1.AddMembersResponse {
        var call = InvitesV1.AddMembersRequest()
        call.groupID = request.groupID
        call.members = request.members.map { person in
            var added = InvitesV1.NewMember()
            added.phoneNumber = person.phoneNumber
            added.displayName = person.displayName
            return added
        }
        let options = authentication.callOptionsWithAddress(user.caller).proving(user.proofs.invites)
        var response = AppV1.AddMembersResponse()
        let answer = try await invites.addMembers(call, options: options)
        response.results = answer.results.map { AppV1.AddMembersResult($0) }
        return response
    }
}
