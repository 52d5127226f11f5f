import API

extension AppMethods {
    /// Exchanges a refresh token for its successor and a new access token.
    func refreshSession(
        _ request: AppV1.RefreshSessionRequest,
        _ caller: Caller
    ) async throws -> AppV1.RefreshSessionResponse {
        let call = IdentityV1.RefreshRequest(presentedNow: request.refreshToken)
        let refresh = try await identity.refresh(
            call,
            options: caller.callOptions().naming(authentication.provenKey(caller))
        )
        let missing = await missingFields(refresh.callerProofs, caller)
        var response = AppV1.RefreshSessionResponse()
        response.tokens = AppV1.SessionTokens(refresh.tokens)
        response.missingFields = missing ?? []
        response.missingFieldsUnknown = missing == nil
        response.suggestedDisplayName = refresh.suggestedDisplayName
        return response
    }
}
