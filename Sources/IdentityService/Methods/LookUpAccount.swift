import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Returns any account with its provider identities, for services; without addresses that are for the person alone.
    func lookUpAccount(
        _ request: IdentityV1.LookUpAccountRequest,
        context: ServerContext
    ) async throws -> IdentityV1.LookUpAccountResponse {
        try await context.answer {
            let userID = try UserID(request.userID, or: IdentityError.userIDInvalid)
            guard let account = try await store.account(userID, deadline: context.deadline) else {
                throw IdentityError.accountNotFound
            }
            var response = IdentityV1.LookUpAccountResponse()
            response.account = IdentityV1.Account(account, isForOthers: true)
            return response
        }
    }
}
