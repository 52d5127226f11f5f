import API

extension AppMethods {
    /// Ends one of the user's sessions, be it over already.
    func endSession(_ request: AppV1.EndSessionRequest, _ user: SignedInUser) async throws -> AppV1.EndSessionResponse {
        var call = IdentityV1.EndSessionRequest()
        call.accessToken = user.token.text
        call.sessionID = request.sessionID
        _ = try await identity.endSession(call, options: user.identityOptions)
        watches.changes.note(sessions: [request.sessionID.lowercased()], users: [user.userID])
        return AppV1.EndSessionResponse()
    }
}
