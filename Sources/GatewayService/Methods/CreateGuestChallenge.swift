import API
import RPC

extension AppMethods {
    /// Makes a challenge for a guest to come.
    func createGuestChallenge(
        _ request: AppV1.CreateGuestChallengeRequest,
        _ caller: Caller
    ) async throws -> AppV1.CreateGuestChallengeResponse {
        let made = try await identity.createGuestChallenge(.init(), options: caller.callOptions())
        var response = AppV1.CreateGuestChallengeResponse()
        response.challenge = made.challenge
        response.workBits = made.workBits
        response.expiresInSeconds = made.expiresInSeconds
        return response
    }
}
