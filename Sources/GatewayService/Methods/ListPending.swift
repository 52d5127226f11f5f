import API

extension AppMethods {
    /// A page of whom a group waits for and who is in doubt, oldest first.
    func listPending(
        _ request: AppV1.ListPendingRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.ListPendingResponse {
        var call = InvitesV1.ListPendingRequest()
        call.groupID = request.groupID
        call.pageSize = request.pageSize
        call.pageToken = request.pageToken
        let options = user.caller.callOptions().proving(user.proofs.invites)
        let page = try await invites.listPending(call, options: options)
        var response = AppV1.ListPendingResponse()
        response.people = page.people.map { AppV1.PendingPerson($0) }
        response.nextPageToken = page.nextPageToken
        return response
    }
}
