import API

extension AppMethods {
    /// Puts a member out, or takes back that a person is awaited. One who isn't there is a success.
    func removeMember(
        _ request: AppV1.RemoveMemberRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.RemoveMemberResponse {
        var call = InvitesV1.RemoveMemberRequest()
        call.groupID = request.groupID
        call.memberID = request.memberID
        let options = user.caller.callOptions().proving(user.proofs.invites)
        _ = try await invites.removeMember(call, options: options)
        return AppV1.RemoveMemberResponse()
    }
}
