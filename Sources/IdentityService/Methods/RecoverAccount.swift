import API
import IdentityDomain
import Models
import RPC
import ServiceKit
import WebAuthn

extension IdentityMethods {
    /// Adds a passkey to the account that a recovery code is of, and uses the code up.
    func recoverAccount(
        _ request: IdentityV1.RecoverAccountRequest,
        context: ServerContext
    ) async throws -> IdentityV1.RecoverAccountResponse {
        // The same code with the same credential is used once.
        try await context.answer(mayBeRepeated: true) {
            guard let passkeys else { throw IdentityError.passkey(.notEnabled) }
            let name = request.name.isEmpty ? nil : try PasskeyName.check(request.name)
            let (code, account) = try await recovering(request.code, context)
            let handle = try await store.passkeyHandle(of: account.userID, deadline: context.deadline)
            let new: NewPasskey
            do throws(IdentityError) {
                new = try newPasskey(request.credential, for: .recovery(code, handle: handle), by: passkeys)
            } catch {
                // A code that was used is refused as a wrong one, whatever comes with it.
                throw account.added == nil ? error : .recovery(.invalid)
            }
            let passkey = try await store.addPasskey(
                new,
                id: identifiers.make(PasskeyID.self),
                name: name,
                for: passkeys.relyingParty.id,
                under: handle,
                by: .recoveryCode(code, account.userID),
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = IdentityV1.RecoverAccountResponse()
            response.passkey = IdentityV1.Passkey(passkey)
            return response
        }
    }
}
