import API
import RPC

extension AppMethods {
    /// Makes a nonce for a sign-in.
    func createChallenge(
        _ request: AppV1.CreateChallengeRequest,
        _ caller: Caller
    ) async throws -> AppV1.CreateChallengeResponse {
        var call = IdentityV1.CreateChallengeRequest()
        call.provider = request.provider
        call.clientID = request.clientID
        let made = try await identity.createChallenge(call, options: caller.callOptions())
        var response = AppV1.CreateChallengeResponse()
        response.nonce = made.nonce
        response.expiresInSeconds = Int32(clamping: made.expiresInSeconds)
        return response
    }
}
