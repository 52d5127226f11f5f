import API

extension AppMethods {
    /// Makes the user a member who accepts what waits for them.
    func acceptInvitation(
        _ request: AppV1.AcceptInvitationRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.AcceptInvitationResponse {
        var call = InvitesV1.AcceptInvitationRequest()
        call.groupID = request.groupID
        call.memberID = request.memberID
        let options = user.caller.callOptions().proving(user.proofs.invites)
        var response = AppV1.AcceptInvitationResponse()
        response.member = AppV1.Member(try await invites.acceptInvitation(call, options: options).member)
        return response
    }
}
