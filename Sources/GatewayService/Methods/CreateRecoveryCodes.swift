import API
import RPC

extension AppMethods {
    /// Makes recovery codes for the user's account, in place of those from before.
    func createRecoveryCodes(
        _ request: AppV1.CreateRecoveryCodesRequest,
        _ user: SignedInUser
    ) async throws -> AppV1.CreateRecoveryCodesResponse {
        var call = IdentityV1.CreateRecoveryCodesRequest()
        call.accessToken = user.token.text
        var response = AppV1.CreateRecoveryCodesResponse()
        response.codes = try await identity.createRecoveryCodes(call, options: user.identityOptions).codes
        return response
    }
}
