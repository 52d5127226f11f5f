import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Makes a nonce for a sign-in. Any audience gets one: its apps can ask for nonces before it takes no others.
    func createChallenge(
        _ request: IdentityV1.CreateChallengeRequest,
        context: ServerContext
    ) async throws -> IdentityV1.CreateChallengeResponse {
        try await context.answer(mayBeRepeated: true) {
            guard let provider = ProviderName(request.provider).flatMap({ providers[$0] }) else {
                throw IdentityError.providerUnknown
            }
            let audiences = provider.policy.audiences.values.filter {
                request.clientID.isEmpty || $0.id == request.clientID
            }
            guard audiences.count == 1 else { throw IdentityError.signIn(.clientUnknown) }
            var response = IdentityV1.CreateChallengeResponse()
            response.nonce = nonces.make(
                provider: provider.policy.name,
                audience: audiences[0].id,
                nowSeconds: clock.nowSeconds,
                random: randomBytes(SignInNonces.randomByteCount)
            )
            response.expiresInSeconds = SignInNonces.lifetimeSeconds
            return response
        }
    }
}
