import API

extension AppMethods {
    /// Changes the fields of the user's profile that are present, all or none. What may be empty is for profile to judge, which
    /// knows what is required.
    func updateMe(_ request: AppV1.UpdateMeRequest, _ user: SignedInUser) async throws -> AppV1.UpdateMeResponse {
        var call = ProfileV1.UpdateProfileRequest()
        if request.hasDisplayName { call.displayName = request.displayName }
        if request.hasPhoneNumber { call.phoneNumber = request.phoneNumber }
        if request.hasUsername { call.username = request.username }
        if request.hasAvatarURL { call.avatar = avatars.name(of: request.avatarURL) }
        if request.hasExpectedRevision { call.expectedRevision = request.expectedRevision }
        let options = authentication.callOptionsWithAddress(user.caller).proving(user.proofs.profile)
        var response = AppV1.UpdateMeResponse()
        let changed = try await profile.updateProfile(call, options: options).profile
        response.profile = AppV1.Profile(changed, of: user, avatars)
        return response
    }
}
