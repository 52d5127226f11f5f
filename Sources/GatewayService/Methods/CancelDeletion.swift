import API

extension AppMethods {
    /// Cancels the scheduled deletion of the user's account.
    func cancelDeletion(
        _ request: AppV1.CancelDeletionRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.CancelDeletionResponse {
        var call = IdentityV1.CancelDeletionRequest()
        call.accessToken = user.token.text
        _ = try await identity.cancelDeletion(call, options: user.identityOptions)
        return AppV1.CancelDeletionResponse()
    }
}
