import API
import RPC
import ServiceKit

extension IdentityMethods {
    /// Lists the passkeys of the caller's account.
    func listPasskeys(
        _ request: IdentityV1.ListPasskeysRequest,
        context: ServerContext
    ) async throws -> IdentityV1.ListPasskeysResponse {
        try await context.answer {
            let owner = try await owner(request.accessToken, context)
            var response = IdentityV1.ListPasskeysResponse()
            response.passkeys = try await store.passkeys(of: owner.userID, deadline: context.deadline).map {
                IdentityV1.Passkey($0)
            }
            return response
        }
    }
}
