import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Tells whose session an access token or a single token belongs to. An access token's signature may be known from
    /// before; the session's row is read each time.
    func checkSession(
        _ request: IdentityV1.CheckSessionRequest,
        context: ServerContext
    ) async throws -> IdentityV1.CheckSessionResponse {
        try await context.answer {
            var response = IdentityV1.CheckSessionResponse()
            let state: SessionState
            if mint.singleTokens.isSingleToken(request.accessToken) {
                let session = try await aliveSession(
                    ofSingleToken: request.accessToken,
                    acceptsExpired: false,
                    deadline: context.deadline
                )
                state = session.state.session
                try state.checkProof(in: request.dialect)
                await recordUse(of: session)
                response.sessionID = session.claims.sessionID.description
                response.expiresAtSeconds = session.claims.expiresAtSeconds
            } else {
                let claims = try verifiedTokens.claims(of: request.accessToken, issuer: issuer)
                let now = clock.nowMilliseconds
                try claims.checkLifetime(nowSeconds: now / 1000)
                state = try await store.aliveSession(of: claims, nowMilliseconds: now, deadline: context.deadline)
                try state.checkProof(in: request.dialect)
                response.sessionID = claims.sessionID.description
                response.expiresAtSeconds = claims.expiresAtSeconds
            }
            response.userID = state.userID.description
            response.proof = IdentityV1.Proof(state.proof)
            return response
        }
    }
}
