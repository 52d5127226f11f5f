import API
import RPC

extension AppMethods {
    /// Gives one of the user's passkeys another name.
    func renamePasskey(
        _ request: AppV1.RenamePasskeyRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.RenamePasskeyResponse {
        var call = IdentityV1.RenamePasskeyRequest()
        call.accessToken = user.token.text
        call.passkeyID = request.passkeyID
        call.name = request.name
        var response = AppV1.RenamePasskeyResponse()
        response.passkey = AppV1.Passkey(
            try await identity.renamePasskey(call, options: user.identityOptions).passkey
        )
        return response
    }
}
