import API

extension AppMethods {
    /// Changes the fields of a group that are present.
    func updateGroup(
        _ request: AppV1.UpdateGroupRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.UpdateGroupResponse {
        var call = InvitesV1.UpdateGroupRequest()
        call.groupID = request.groupID
        if request.hasName { call.name = request.name }
        call.openness = InvitesV1.GroupOpenness(request.openness)
        let options = user.caller.callOptions().proving(user.proofs.invites)
        var response = AppV1.UpdateGroupResponse()
        response.group = AppV1.Group(try await invites.updateGroup(call, options: options).group)
        return response
    }
}
