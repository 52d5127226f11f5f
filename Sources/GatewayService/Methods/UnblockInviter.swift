import API

extension AppMethods {
    /// Lets a user make the caller a member by number again.
    func unblockInviter(
        _ request: AppV1.UnblockInviterRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.UnblockInviterResponse {
        var call = InvitesV1.UnblockInviterRequest()
        call.inviterUserID = request.inviterUserID
        let options = user.caller.callOptions().proving(user.proofs.invites)
        _ = try await invites.unblockInviter(call, options: options)
        return AppV1.UnblockInviterResponse()
    }
}
