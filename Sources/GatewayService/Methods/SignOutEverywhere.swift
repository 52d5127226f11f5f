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
        let token = try authentication.presentedToIdentity(caller)
        call.accessToken = token.text
        call.scope = request.exceptCurrent ? .others : .everywhere
        try await endSessions(call, options: caller.callOptions().naming(token.key))
        return AppV1.SignOutEverywhereResponse()
    }
}
