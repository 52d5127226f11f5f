import API
import RPC

extension AppMethods {
    /// Makes a challenge for a new passkey of the account that a recovery code is of.
    func createRecoveryChallenge(
        _ request: AppV1.CreateRecoveryChallengeRequest,
        _ caller: Caller
    ) async throws -> AppV1.CreateRecoveryChallengeResponse {
        var call = IdentityV1.CreateRecoveryChallengeRequest()
        call.code = request.code
        // Identity limits wrong codes by address, over all replicas.
        let options = authentication.callOptionsWithAddress(caller)
        let made = try await identity.createRecoveryChallenge(call, options: options)
        var response = AppV1.CreateRecoveryChallengeResponse()
        response.options = made.options
        response.expiresInSeconds = made.expiresInSeconds
        return response
    }
}
