import API

extension AppMethods {
    /// The providers that open the user's account, the one linked first before the others.
    func listProviders(
        _ request: AppV1.ListProvidersRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.ListProvidersResponse {
        let options = user.caller.callOptions().proving(user.proofs.identity)
        let account = try await identity.getAccount(.init(), options: options).account
        var response = AppV1.ListProvidersResponse()
        response.providers = account.identities.map { AppV1.LinkedProvider($0) }
        return response
    }
}
