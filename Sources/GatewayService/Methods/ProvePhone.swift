import API

extension AppMethods {
    /// Proves that a number is the user's, by an assertion of the app's own backend; then the profile as it is by that.
    func provePhone(_ request: AppV1.ProvePhoneRequest, _ user: SignedInUser) async throws -> AppV1.ProvePhoneResponse {
        var call = IdentityV1.ProvePhoneRequest()
        call.assertion = request.assertion
        let options = user.caller.callOptions().proving(user.proofs.identity)
        var response = AppV1.ProvePhoneResponse()
        response.isPending = try await identity.provePhone(call, options: options).isPending
        if !response.isPending { response.profile = try await getMe(.init(), user).profile }
        return response
    }
}
