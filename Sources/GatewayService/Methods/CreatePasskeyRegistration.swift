import API
import RPC

extension AppMethods {
    /// Makes a challenge for a new passkey of the user. Authenticators show the user's name beside it, as the profile has it.
    func createPasskeyRegistration(
        _ request: AppV1.CreatePasskeyRegistrationRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.CreatePasskeyRegistrationResponse {
        var call = IdentityV1.CreatePasskeyRegistrationRequest()
        call.accessToken = user.token.text
        call.userName = try await passkeyUserName(user)
        let made = try await identity.createPasskeyRegistration(call, options: user.identityOptions)
        var response = AppV1.CreatePasskeyRegistrationResponse()
        response.options = made.options
        response.expiresInSeconds = made.expiresInSeconds
        return response
    }

    /// The username, or else the display name, or nothing.
    private func passkeyUserName(_ user: SignedInUser) async throws -> String {
        let options = user.caller.callOptions().proving(user.proofs.profile)
        let found = try await profile.getProfile(.init(), options: options).profile
        return found.username.isEmpty ? found.displayName : found.username
    }
}
