import API
import IdentityDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension IdentityMethods {
    /// Returns the caller's account with its provider identities.
    func getAccount(
        _ request: IdentityV1.GetAccountRequest,
        context: ServerContext
    ) async throws -> IdentityV1.GetAccountResponse {
        try await context.answer {
            let userID = try callers.user(of: context)
            guard let account = try await store.account(userID, deadline: context.deadline) else {
                throw IdentityError.accountNotFound
            }
            var response = IdentityV1.GetAccountResponse()
            response.account = IdentityV1.Account(account, isForOthers: false)
            return response
        }
    }
}
