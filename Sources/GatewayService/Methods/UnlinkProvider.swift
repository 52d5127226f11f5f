import API
import HTTPJSON
import HTTPTypes
import RPC

extension AppMethods {
    /// Takes a provider from the user's account.
    func unlinkProvider(
        _ request: AppV1.UnlinkProviderRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.UnlinkProviderResponse {
        var call = IdentityV1.UnlinkProviderRequest()
        call.accessToken = user.token.text
        call.provider = request.provider
        try await unlink(call, of: user, options: user.identityOptions)
        return AppV1.UnlinkProviderResponse()
    }
}
