import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Tells whose session an access token belongs to. The signature may be known from before; the session's row is
    /// read each time.
    func checkSession(
        _ request: IdentityV1.CheckSessionRequest,
        context: ServerContext
    ) async throws -> IdentityV1.CheckSessionResponse {
        try await context.answer {
            let claims = try verifiedTokens.claims(of: request.accessToken, issuer: issuer)
            let now = clock.nowMilliseconds
            try claims.checkLifetime(nowSeconds: now / 1000)
            try await store.checkAlive(claims, nowMilliseconds: now, deadline: context.deadline)
            var response = IdentityV1.CheckSessionResponse()
            response.userID = claims.userID.description
            response.sessionID = claims.sessionID.description
            response.expiresAtSeconds = claims.expiresAtSeconds
            return response
        }
    }
}
