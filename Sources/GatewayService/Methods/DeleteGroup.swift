import API

extension AppMethods {
    /// Deletes a group with everybody in it. The owner alone may.
    func deleteGroup(
        _ request: AppV1.DeleteGroupRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.DeleteGroupResponse {
        var call = InvitesV1.DeleteGroupRequest()
        call.groupID = request.groupID
        let options = user.caller.callOptions().proving(user.proofs.invites)
        _ = try await invites.deleteGroup(call, options: options)
        return AppV1.DeleteGroupResponse()
    }
}
