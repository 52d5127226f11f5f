import API

extension AppMethods {
    /// Makes another member the owner. The owner alone may.
    func handOverGroup(
        _ request: AppV1.HandOverGroupRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.HandOverGroupResponse {
        var call = InvitesV1.HandOverGroupRequest()
        call.groupID = request.groupID
        call.memberID = request.memberID
        let options = user.caller.callOptions().proving(user.proofs.invites)
        var response = AppV1.HandOverGroupResponse()
        response.group = AppV1.Group(try await invites.handOverGroup(call, options: options).group)
        return response
    }
}
