import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// How often codes are made anew because another account has one of their locators, which are of 40 bits.
    private static let locatorTriesMax = 3

    /// Makes recovery codes for the caller's account. They are returned once.
    func createRecoveryCodes(
        _ request: IdentityV1.CreateRecoveryCodesRequest,
        context: ServerContext
    ) async throws -> IdentityV1.CreateRecoveryCodesResponse {
        // Made again they are others, and those of a lost response are worth nothing.
        try await context.answer(mayBeRepeated: true) {
            // A code adds a passkey and nothing else.
            guard passkeys != nil else { throw IdentityError.passkey(.notEnabled) }
            let owner = try await owner(request.accessToken, context)
            for _ in 0..<Self.locatorTriesMax {
                let codes = (0..<RecoveryCode.count).map { _ in
                    RecoveryCode(random: randomBytes(RecoveryCode.randomByteCount))
                }
                let areKept = try await store.replaceRecoveryCodes(
                    by: codes,
                    LinkingSession(userID: owner.userID, sessionID: owner.sessionID),
                    nowMilliseconds: clock.nowMilliseconds,
                    deadline: context.deadline
                )
                guard areKept else { continue }
                var response = IdentityV1.CreateRecoveryCodesResponse()
                response.codes = codes.map(\.text)
                return response
            }
            throw RPCError(.internalError, "no free locators of recovery codes were found")
        }
    }
}
