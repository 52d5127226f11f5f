import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Tells whether an account was closed, and when it was seen last, for services.
    func getAccountState(
        _ request: IdentityV1.GetAccountStateRequest,
        context: ServerContext
    ) async throws -> IdentityV1.GetAccountStateResponse {
        try await context.answer {
            let userID = try UserID(request.userID, or: IdentityError.userIDInvalid)
            var response = IdentityV1.GetAccountStateResponse()
            let state = try await store.state(of: userID, deadline: context.deadline)
            response.isClosed = state.isClosed
            response.lastSeenAtMs = state.lastSeenMilliseconds
            return response
        }
    }
}
