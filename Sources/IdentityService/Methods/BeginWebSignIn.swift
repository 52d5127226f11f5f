import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Makes the state of a sign-in in a browser and the URL of the provider's page. Nothing is stored.
    func beginWebSignIn(
        _ request: IdentityV1.BeginWebSignInRequest,
        context: ServerContext
    ) async throws -> IdentityV1.BeginWebSignInResponse {
        try await context.answer(mayBeRepeated: true) {
            guard let provider = ProviderName(request.provider).flatMap({ providers[$0] }) else {
                throw IdentityError.providerUnknown
            }
            guard let endpoint = provider.endpoints.authorizationURL else { throw IdentityError.web(.notConfigured) }
            let client = try Self.webClient(request.clientID, of: provider.policy)
            guard CodeChallenge.isAcceptable(request.codeChallenge) else { throw IdentityError.web(.challengeInvalid) }
            let linking = request.linkingAccessToken
            let linkingSession = linking.isEmpty ? nil : try await owner(linking, context).sessionID
            let state = WebState(
                provider: provider.policy.name,
                clientID: client.id,
                appURL: request.appURL,
                codeChallenge: request.codeChallenge,
                nowSeconds: clock.nowSeconds,
                random: randomBytes(WebState.randomByteCount),
                linkingSession: linkingSession
            )
            guard let minted = webStates.mint(state) else { throw IdentityError.web(.stateInvalid) }
            var authorization = WebAuthorization(
                client: client,
                redirectURI: request.redirectUri,
                state: minted.text,
                rawNonce: minted.rawNonce
            )
            let asked = ownKeys.current.authorizationRequests.open(
                request.authorizationRequest,
                for: .page,
                nowMilliseconds: clock.nowMilliseconds
            )
            authorization.loginHint = asked?.loginHint
            let demandsNewSignIn = request.demandsNewSignIn || asked?.demandsNewSignIn == true
            authorization.prompt = demandsNewSignIn ? .login : request.choosesAccount ? .selectAccount : asked?.prompt
            var response = IdentityV1.BeginWebSignInResponse()
            response.state = minted.text
            response.authorizationURL = authorization.url(of: endpoint, provider: provider.policy.name)
            return response
        }
    }

    /// The client of that id that a browser may sign in to; without an id the only one.
    private static func webClient(_ id: String, of policy: ProviderPolicy) throws(IdentityError) -> AudiencePolicy {
        let clients = policy.audiences.values.filter { $0.kind != .native && (id.isEmpty || $0.id == id) }
        guard clients.count == 1 else { throw .signIn(.clientUnknown) }
        return clients[0]
    }
}
