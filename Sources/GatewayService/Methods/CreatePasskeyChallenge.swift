import API
import RPC

extension AppMethods {
    /// Makes a challenge for a sign-in by passkey.
    func createPasskeyChallenge(
        _ request: AppV1.CreatePasskeyChallengeRequest,
        _ caller: Caller
    ) async throws -> AppV1.CreatePasskeyChallengeResponse {
        let made = try await identity.createPasskeyChallenge(.init(), options: caller.callOptions())
        var response = AppV1.CreatePasskeyChallengeResponse()
        response.options = made.options
        response.expiresInSeconds = made.expiresInSeconds
        return response
    }
}
