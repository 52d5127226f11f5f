import API

extension AppMethods {
    /// Declines what waits for the user, or takes their request to join back.
    func declineInvitation(
        _ request: AppV1.DeclineInvitationRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.DeclineInvitationResponse {
        var call = InvitesV1.DeclineInvitationRequest()
        call.groupID = request.groupID
        call.memberID = request.memberID
        let options = user.caller.callOptions().proving(user.proofs.invites)
        _ = try await invites.declineInvitation(call, options: options)
        return AppV1.DeclineInvitationResponse()
    }
}
