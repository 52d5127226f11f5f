import API

extension AppMethods {
    /// The user's profile.
    func getMe(_ request: AppV1.GetMeRequest, _ user: SignedInUser) async throws -> AppV1.GetMeResponse {
        var call = ProfileV1.GetProfileRequest()
        call.userID = user.id
        let profile = try await profile.getProfile(call, options: user.caller.callOptions()).profile
        var response = AppV1.GetMeResponse()
        response.profile = AppV1.Profile(profile)
        return response
    }
}
