import API

extension AppMethods {
    /// Adds a person by phone number: a member at once if a user has that number. One who is there already is answered as they
    /// are.
    func addMember(_ request: AppV1.AddMemberRequest, _ user: SignedInUser) async throws -> AppV1.AddMemberResponse {
        var call = InvitesV1.AddMemberRequest()
        call.groupID = request.groupID
        call.phoneNumber = request.phoneNumber
        call.displayName = request.displayName
        let options = authentication.callOptionsWithAddress(user.caller).proving(user.proofs.invites)
        var response = AppV1.AddMemberResponse()
        let answer = try await invites.addMember(call, options: options)
        response.member = AppV1.Member(answer.member)
        response.existed = answer.existed
        return response
    }
}
