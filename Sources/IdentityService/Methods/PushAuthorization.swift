import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension OAuthMethods {
    /// Checks a request that a client pushes, and seals it (RFC 9126).
    func pushAuthorization(
        _ request: IdentityV1.PushAuthorizationRequest,
        context: ServerContext
    ) async throws -> IdentityV1.PushAuthorizationResponse {
        try await context.answer {
            var response = IdentityV1.PushAuthorizationResponse()
            do {
                response = try await push(request, context)
            } catch let failure as OAuthFailure {
                response.failure = .init(failure)
            }
            return response
        }
    }

    private func push(
        _ request: IdentityV1.PushAuthorizationRequest,
        _ context: ServerContext
    ) async throws -> IdentityV1.PushAuthorizationResponse {
        var response = IdentityV1.PushAuthorizationResponse()
        let form = OAuthForm(request.parameters)
        let client = try await client(form, request.client, deadline: context.deadline)
        let parameters = Self.parameters(request.parameters)
        guard !parameters.contains(where: { $0.name == "request_uri" }) else {
            throw OAuthFailure(.invalidRequest, "A pushed request names no other one.")
        }
        var accepted: AuthorizationRequest
        do throws(AuthorizationRequest.Rejection) {
            // By Basic the form need not name the client.
            let named = parameters.filter { $0.name != "client_id" } + [("client_id", client.id)]
            accepted = try checked(named)
        } catch {
            switch error {
            case .page(let failure), .client(let failure, _): throw failure
            }
        }
        // RFC 9449 section 10.1: the proof says as much as dpop_jkt, and must not say anything else.
        if let key = identity.provenKey(context) {
            guard accepted.key == nil || accepted.key == key else {
                throw OAuthFailure(.invalidDPoPProof, "The proof is by another key than dpop_jkt names.")
            }
            accepted.key = key
        }
        guard let sealed = identity.ownKeys.current.authorizationRequests.seal(accepted, for: .pushed) else {
            throw OAuthFailure(.invalidRequest, "The request is too long.")
        }
        response.requestUri = AuthorizationRequestKeys.requestURIPrefix + sealed
        response.expiresInSeconds = AuthorizationRequestKeys.pushedSeconds
        return response
    }
}
