import API
import IdentityDomain
import Models
import RPC
import ServiceKit
import WebAuthn

extension IdentityMethods {
    /// How long a client should wait for its user, in milliseconds: as long as the challenge is good.
    static let passkeyTimeoutMilliseconds = UInt32(PasskeyChallenges.lifetimeSeconds) * 1000

    /// Makes a challenge for a sign-in by passkey. Nothing of it is stored.
    func createPasskeyChallenge(
        _ request: IdentityV1.CreatePasskeyChallengeRequest,
        context: ServerContext
    ) async throws -> IdentityV1.CreatePasskeyChallengeResponse {
        try await context.answer(mayBeRepeated: true) {
            guard let passkeys else { throw IdentityError.passkey(.notEnabled) }
            let options = passkeys.relyingParty.requestOptions(
                challenge: newPasskeyChallenge(for: .signIn),
                timeoutMilliseconds: Self.passkeyTimeoutMilliseconds
            )
            var response = IdentityV1.CreatePasskeyChallengeResponse()
            response.options = String(decoding: options, as: UTF8.self)
            response.expiresInSeconds = Int32(PasskeyChallenges.lifetimeSeconds)
            return response
        }
    }

    /// A challenge for a purpose.
    func newPasskeyChallenge(for purpose: PasskeyChallenges.Purpose) -> [UInt8] {
        passkeyChallenges.make(
            for: purpose,
            nowSeconds: clock.nowSeconds,
            random: randomBytes(PasskeyChallenges.randomByteCount)
        )
    }
}
