import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Ends the session of a token. A token that is not ours names no session: nothing is left to end, which is what
    /// the caller wants (RFC 7009 section 2.2).
    func signOut(
        _ request: IdentityV1.SignOutRequest,
        context: ServerContext
    ) async throws -> IdentityV1.SignOutResponse {
        try await context.answer {
            let now = clock.nowMilliseconds
            switch request.token {
            case .accessToken(let text):
                if let claims = try? issuer.verifiedAccessClaims(text) {
                    try await store.signOut(
                        claims.sessionID,
                        nonce: nil,
                        nowMilliseconds: now,
                        deadline: context.deadline
                    )
                }
            case .refreshToken(let text):
                if let token = mint.refreshKeys.verify(text) {
                    try await store.signOut(
                        token.sessionID,
                        nonce: token.nonce,
                        nowMilliseconds: now,
                        deadline: context.deadline
                    )
                }
            case nil:
                throw IdentityFault.tokenMissing
            }
            return IdentityV1.SignOutResponse()
        }
    }
}
