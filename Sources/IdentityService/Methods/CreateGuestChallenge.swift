import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Makes a challenge for a guest to come. Nothing of it is stored. It demands more work while there are many new guests.
    func createGuestChallenge(
        _ request: IdentityV1.CreateGuestChallengeRequest,
        context: ServerContext
    ) async throws -> IdentityV1.CreateGuestChallengeResponse {
        try await context.answer(mayBeRepeated: true) {
            guard guestPolicy.areOn else { throw IdentityError.guest(.notEnabled) }
            let workBits = guestPolicy.workBits(after: await guestCount.current(deadline: context.deadline))
            var response = IdentityV1.CreateGuestChallengeResponse()
            response.challenge = guestChallenges.make(
                workBits: workBits,
                nowSeconds: clock.nowSeconds,
                random: randomBytes(GuestChallenges.randomByteCount)
            )
            response.workBits = Int32(workBits)
            response.expiresInSeconds = Int32(GuestChallenges.lifetimeSeconds)
            return response
        }
    }
}
