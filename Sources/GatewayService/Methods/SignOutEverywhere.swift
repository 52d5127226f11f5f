import API

extension AppMethods {
    /// Ends all sessions of the user, or all but the access token's own.
    ///
    /// Identity judges the token with the sign-out: asked before, it would reject a retry after a lost response.
    func signOutEverywhere(
        _ request: AppV1.SignOutEverywhereRequest,
        _ caller: Caller
    ) async throws -> AppV1.SignOutEverywhereResponse {
        var call = IdentityV1.SignOutRequest()
        call.accessToken = try Authentication.requiredToken(caller.headers)
        call.scope = request.exceptCurrent ? .others : .everywhere
        try await endSessions(call, options: caller.callOptions())
        return AppV1.SignOutEverywhereResponse()
    }
}
