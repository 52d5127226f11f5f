import API

extension AppMethods {
    /// Takes the user out of a group; the last member takes the group with them.
    func leaveGroup(_ request: AppV1.LeaveGroupRequest, _ user: SignedInUser) async throws -> AppV1.LeaveGroupResponse {
        var call = InvitesV1.LeaveGroupRequest()
        call.groupID = request.groupID
        let options = user.caller.callOptions().proving(user.proofs.invites)
        _ = try await invites.leaveGroup(call, options: options)
        return AppV1.LeaveGroupResponse()
    }
}
