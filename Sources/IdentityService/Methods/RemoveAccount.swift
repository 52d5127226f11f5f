import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Deletes any account, for services.
    func removeAccount(
        _ request: IdentityV1.RemoveAccountRequest,
        context: ServerContext
    ) async throws -> IdentityV1.RemoveAccountResponse {
        try await context.answer {
            let userID = try UserID(request.userID, or: IdentityError.userIDInvalid)
            try await close(userID, why: .byOperator, ground: .others, context)
            return IdentityV1.RemoveAccountResponse()
        }
    }
}
