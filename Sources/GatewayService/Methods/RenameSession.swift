import API

extension AppMethods {
    /// Gives one of the user's live sessions another name. What a device may be called is identity's to judge.
    func renameSession(
        _ request: AppV1.RenameSessionRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.RenameSessionResponse {
        var call = IdentityV1.RenameSessionRequest()
        call.accessToken = user.token.text
        call.sessionID = request.sessionID
        call.deviceName = request.deviceName
        var response = AppV1.RenameSessionResponse()
        response.session = AppV1.Session(
            try await identity.renameSession(call, options: user.identityOptions).session
        )
        return response
    }
}
