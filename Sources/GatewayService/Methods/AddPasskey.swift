import API
import RPC

extension AppMethods {
    /// Adds a passkey to the user's account.
    func addPasskey(
        _ request: AppV1.AddPasskeyRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.AddPasskeyResponse {
        var call = IdentityV1.AddPasskeyRequest()
        call.accessToken = user.token.text
        call.credential = request.credential
        call.name = request.name
        var response = AppV1.AddPasskeyResponse()
        response.passkey = AppV1.Passkey(
            try await identity.addPasskey(call, options: user.identityOptions).passkey
        )
        return response
    }
}
