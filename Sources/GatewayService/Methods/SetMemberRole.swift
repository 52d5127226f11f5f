import API

extension AppMethods {
    /// Makes a member an admin or a plain member. The owner alone may.
    func setMemberRole(
        _ request: AppV1.SetMemberRoleRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.SetMemberRoleResponse {
        var call = InvitesV1.SetMemberRoleRequest()
        call.groupID = request.groupID
        call.memberID = request.memberID
        call.role = InvitesV1.GroupRole(request.role)
        let options = user.caller.callOptions().proving(user.proofs.invites)
        var response = AppV1.SetMemberRoleResponse()
        response.member = AppV1.Member(try await invites.setMemberRole(call, options: options).member)
        return response
    }
}
