import API

extension AppMethods {
    /// The user's live sessions, the one used last first, and what was changed lately about the ways into the account.
    func listSessions(
        _ request: AppV1.ListSessionsRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.ListSessionsResponse {
        var call = IdentityV1.ListSessionsRequest()
        call.accessToken = user.token.text
        let listed = try await identity.listSessions(call, options: user.identityOptions)
        var response = AppV1.ListSessionsResponse()
        response.sessions = listed.sessions.map { AppV1.Session($0) }
        if listed.deletesAtMs != 0 { response.deletesAt = .init(milliseconds: listed.deletesAtMs) }
        response.recentChanges = listed.recentChanges.map { AppV1.AccountChange($0) }
        return response
    }
}
