import API

extension AppMethods {
    /// The user's live sessions, the one used last first.
    func listSessions(
        _ request: AppV1.ListSessionsRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.ListSessionsResponse {
        var call = IdentityV1.ListSessionsRequest()
        call.accessToken = try Authentication.requiredToken(user.caller.headers)
        let sessions = try await identity.listSessions(call, options: user.caller.callOptions()).sessions
        var response = AppV1.ListSessionsResponse()
        response.sessions = sessions.map { AppV1.Session($0) }
        return response
    }
}
