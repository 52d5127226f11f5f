import API
import RPC

extension AppMethods {
    /// Links a further provider to the user's account. Which of what it gave proves anything is identity's to decide.
    ///
    /// Identity judges the token with the link: asked before, it would reject a guest's retry after a lost response, whose session ended
    /// with the link.
    func linkProvider(
        _ request: AppV1.LinkProviderRequest,
        _ caller: Caller
    ) async throws -> AppV1.LinkProviderResponse {
        var call = IdentityV1.LinkProviderRequest()
        let token = try authentication.presentedToIdentity(caller)
        call.accessToken = token.text
        call.credentials = IdentityV1.SignInRequest(request.credentials)
        let options = authentication.callOptionsWithAddress(caller).naming(token.key)
        let linked = try await link(call, options: options)
        var response = AppV1.LinkProviderResponse()
        response.providers = linked.account.identities.map { AppV1.LinkedProvider($0) }
        guard linked.hasTokens else { return response }
        let missing = await missingFields(linked.callerProofs, caller)
        response.session.tokens = AppV1.SessionTokens(linked.tokens)
        response.session.missingFields = missing ?? []
        response.session.missingFieldsUnknown = missing == nil
        response.session.suggestedDisplayName = linked.account.suggestedDisplayName
        return response
    }
}
