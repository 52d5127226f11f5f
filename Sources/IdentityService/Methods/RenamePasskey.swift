import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Gives a passkey of the caller's account another name. An id that is none is one that nobody has.
    func renamePasskey(
        _ request: IdentityV1.RenamePasskeyRequest,
        context: ServerContext
    ) async throws -> IdentityV1.RenamePasskeyResponse {
        try await context.answer {
            let owner = try await owner(request.accessToken, context)
            let passkey = try await store.renamePasskey(
                PasskeyID(request.passkeyID, or: IdentityError.passkey(.notFound)),
                of: owner.userID,
                to: PasskeyName.check(request.name),
                deadline: context.deadline
            )
            guard let passkey else { throw IdentityError.passkey(.notFound) }
            var response = IdentityV1.RenamePasskeyResponse()
            response.passkey = IdentityV1.Passkey(passkey)
            return response
        }
    }
}
