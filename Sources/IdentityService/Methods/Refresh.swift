import API
import IdentityDomain
import Models
import RPC

extension IdentityMethods {
    /// Exchanges a refresh token for its successor. A forged one costs no work in the database.
    public func refresh(
        _ request: IdentityV1.RefreshRequest,
        context: ServerContext
    ) async throws -> IdentityV1.RefreshResponse {
        try await answer {
            guard let token = mint.refreshKeys.verify(request.refreshToken), token.generation < UInt32.max else {
                throw IdentityFault.refreshTokenInvalid
            }
            let now = effects.clock.nowMilliseconds
            let told = request.presentedAtMilliseconds == 0 ? now : request.presentedAtMilliseconds
            let earliest = now - store.limits.refreshLatenessSeconds * 1000
            let session = try await store.refresh(
                token,
                presentedAtMilliseconds: min(max(told, earliest), now),
                nowMilliseconds: now,
                deadline: context.deadline
            )
            var response = IdentityV1.RefreshResponse()
            response.tokens = try mint.tokens(of: session)
            response.suggestedDisplayName = session.toldName ?? ""
            return response
        }
    }
}
