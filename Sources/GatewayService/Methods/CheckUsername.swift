import API

extension AppMethods {
    /// Returns whether the user could take a username now, and suggests others for one that is taken. Profile limits it by user and
    /// by address.
    func checkUsername(
        _ request: AppV1.CheckUsernameRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.CheckUsernameResponse {
        var call = ProfileV1.CheckUsernameRequest()
        call.username = request.username
        let options = authentication.callOptionsWithAddress(user.caller).proving(user.proofs.profile)
        let check = try await profile.checkUsername(call, options: options)
        var response = AppV1.CheckUsernameResponse()
        response.isFree = check.isFree
        response.suggestions = check.suggestions
        return response
    }
}
