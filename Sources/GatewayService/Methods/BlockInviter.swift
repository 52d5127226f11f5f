import API

extension AppMethods {
    /// Keeps a user from making the caller a member by number.
    func blockInviter(
        _ request: AppV1.BlockInviterRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.BlockInviterResponse {
        var call = InvitesV1.BlockInviterRequest()
        call.inviterUserID = request.inviterUserID
        let options = user.caller.callOptions().proving(user.proofs.invites)
        _ = try await invites.blockInviter(call, options: options)
        return AppV1.BlockInviterResponse()
    }
}
