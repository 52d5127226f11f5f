import API

extension AppMethods {
    /// The user's profile.
    func getMe(_ request: AppV1.GetMeRequest, _ user: SignedInUser) async throws -> AppV1.GetMeResponse {
        let options = user.caller.callOptions().proving(user.proofs.profile)
        let profile = try await profile.getProfile(.init(), options: options).profile
        var response = AppV1.GetMeResponse()
        response.profile = AppV1.Profile(profile, of: user, avatars)
        return response
    }
}
