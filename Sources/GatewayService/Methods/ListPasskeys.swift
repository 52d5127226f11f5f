import API
import RPC

extension AppMethods {
    /// The user's passkeys, the oldest first.
    func listPasskeys(
        _ request: AppV1.ListPasskeysRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.ListPasskeysResponse {
        var call = IdentityV1.ListPasskeysRequest()
        call.accessToken = user.token.text
        var response = AppV1.ListPasskeysResponse()
        response.passkeys = try await identity.listPasskeys(call, options: user.identityOptions).passkeys.map {
            AppV1.Passkey($0)
        }
        return response
    }
}
