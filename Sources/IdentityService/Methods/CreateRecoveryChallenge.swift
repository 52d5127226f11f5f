import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Makes a challenge for a new passkey of the account that a recovery code is of.
    func createRecoveryChallenge(
        _ request: IdentityV1.CreateRecoveryChallengeRequest,
        context: ServerContext
    ) async throws -> IdentityV1.CreateRecoveryChallengeResponse {
        try await context.answer(mayBeRepeated: true) {
            guard let passkeys else { throw IdentityError.passkey(.notEnabled) }
            let (code, account) = try await recovering(request.code, context)
            if account.added != nil { throw IdentityError.recovery(.invalid) }
            let made = try await passkeyOptions(
                passkeys,
                for: account.userID,
                name: account.name ?? "",
                max: PasskeyGround.recoveryCode(code, account.userID).passkeysMax,
                deadline: context.deadline
            ) { .recovery(code, handle: $0) }
            var response = IdentityV1.CreateRecoveryChallengeResponse()
            response.options = made
            response.expiresInSeconds = Int32(PasskeyChallenges.lifetimeSeconds)
            return response
        }
    }

    /// The account of a code that a client sent.
    func recovering(
        _ text: String,
        _ context: ServerContext
    ) async throws -> (code: RecoveryCode, account: RecoveringAccount) {
        let code = RecoveryCode(text)
        let account = try await store.account(
            of: code,
            addressCode: addressKey.code(of: context.metadata),
            nowMilliseconds: clock.nowMilliseconds,
            deadline: context.deadline
        )
        guard let code else { throw IdentityError.recovery(.invalid) }
        return (code, account)
    }
}
