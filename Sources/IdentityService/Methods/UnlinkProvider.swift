import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Takes a provider from the caller's account, and ends the sessions that it opened. One that isn't linked is unlinked: the answer
    /// before may have been lost.
    func unlinkProvider(
        _ request: IdentityV1.UnlinkProviderRequest,
        context: ServerContext
    ) async throws -> IdentityV1.UnlinkProviderResponse {
        try await context.answer {
            let owner = try await owner(request.accessToken, context)
            guard let provider = ProviderName(request.provider) else { throw IdentityError.providerUnknown }
            let isUnlinked = try await store.unlink(
                provider,
                from: LinkingSession(userID: owner.userID, sessionID: owner.sessionID),
                configured: waysIn,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            if isUnlinked {
                revocations.announce()
            } else if providers[provider] == nil, provider != .passkey {
                throw IdentityError.providerUnknown
            }
            return IdentityV1.UnlinkProviderResponse()
        }
    }
}
