import API

extension AppMethods {
    /// Deletes the user's account.
    ///
    /// Identity judges the token with the deletion: asked before, it would refuse whoever asks again because the answer was lost.
    func deleteMe(_ request: AppV1.DeleteMeRequest, _ caller: Caller) async throws -> AppV1.DeleteMeResponse {
        var call = IdentityV1.DeleteAccountRequest()
        call.accessToken = try Authentication.requiredToken(caller.headers)
        var response = AppV1.DeleteMeResponse()
        response.consentsLeft = try await identity.deleteAccount(call, options: caller.callOptions()).consentsLeft
        return response
    }
}
