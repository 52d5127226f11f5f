import API

extension AppMethods {
    /// A group, for those who are in it.
    func getGroup(_ request: AppV1.GetGroupRequest, _ user: SignedInUser) async throws -> AppV1.GetGroupResponse {
        var call = InvitesV1.GetGroupRequest()
        call.groupID = request.groupID
        let options = user.caller.callOptions().proving(user.proofs.invites)
        var response = AppV1.GetGroupResponse()
        response.group = AppV1.Group(try await invites.getGroup(call, options: options).group)
        return response
    }
}
