import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Makes a single token with a later end. The one presented stays good until its own: there is nothing to lose in an
    /// answer that doesn't arrive, and nothing that tells a thief from the owner; what ends both is the session's end.
    ///
    /// A session without proof stays what it is: its new token is good in its dialect only, as each use is checked against
    /// the session.
    func renewSingleToken(
        _ request: IdentityV1.RenewSingleTokenRequest,
        context: ServerContext
    ) async throws -> IdentityV1.RenewSingleTokenResponse {
        try await context.answer {
            let session = try await aliveSession(
                of: mint.singleTokens.verifiedClaims(request.singleToken),
                acceptsExpired: true,
                deadline: context.deadline
            )
            let number = try await store.number(of: session.claims.userID, deadline: context.deadline)
            guard let number else { throw IdentityError.sessionInvalid }
            await recordUse(of: session)
            var response = IdentityV1.RenewSingleTokenResponse()
            response.tokens = mint.singleToken(
                userID: session.claims.userID,
                sessionID: session.claims.sessionID,
                nonce: session.claims.nonce,
                style: session.claims.style,
                sessionEndsAtSeconds: session.state.session.endsAtMilliseconds / 1000
            )
            response.tokens.accountNumber = number
            return response
        }
    }
}
