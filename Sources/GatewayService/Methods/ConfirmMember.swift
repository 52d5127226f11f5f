import API

extension AppMethods {
    /// Says that a user is the person meant.
    func confirmMember(
        _ request: AppV1.ConfirmMemberRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.ConfirmMemberResponse {
        var call = InvitesV1.ConfirmMemberRequest()
        call.groupID = request.groupID
        call.memberID = request.memberID
        call.confirmedUserID = request.confirmedUserID
        let options = user.caller.callOptions().proving(user.proofs.invites)
        var response = AppV1.ConfirmMemberResponse()
        response.member = AppV1.Member(try await invites.confirmMember(call, options: options).member)
        return response
    }
}
