import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension OAuthMethods {
    /// Ends the session of a client's access or refresh token. Others end nothing, and are no error (RFC 7009 section 2.2).
    func revokeClientToken(
        _ request: IdentityV1.RevokeClientTokenRequest,
        context: ServerContext
    ) async throws -> IdentityV1.RevokeClientTokenResponse {
        try await context.answer {
            var response = IdentityV1.RevokeClientTokenResponse()
            do {
                let form = OAuthForm(request.parameters)
                let client = try await client(form, request.client, deadline: context.deadline)
                guard let token = form["token"] else { throw OAuthFailure(.invalidRequest, "The token is missing.") }
                if let session = signingOut(token) {
                    let isEnded = try await identity.store.signOut(
                        session,
                        ofClient: client.id,
                        nowMilliseconds: identity.clock.nowMilliseconds,
                        deadline: context.deadline
                    )
                    if isEnded {
                        identity.revocations.announce()
                        response.endedSessionID = session.sessionID.description
                    }
                }
            } catch let failure as OAuthFailure {
                response.failure = .init(failure)
            }
            return response
        }
    }

    private func signingOut(_ token: String) -> SigningOut? {
        if let refresh = identity.mint.refreshKeys.verify(token) { return SigningOut(refresh) }
        return (try? identity.issuer.verifiedAccessClaims(token, audience: .any)).map { SigningOut($0) }
    }
}
