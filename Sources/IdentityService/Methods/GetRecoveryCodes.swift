import API
import Postgres
import RPC
import ServiceKit

extension IdentityMethods {
    /// Returns how many recovery codes of the caller's account are not used yet.
    func getRecoveryCodes(
        _ request: IdentityV1.GetRecoveryCodesRequest,
        context: ServerContext
    ) async throws -> IdentityV1.GetRecoveryCodesResponse {
        try await context.answer {
            let owner = try await owner(request.accessToken, context)
            var response = IdentityV1.GetRecoveryCodesResponse()
            if let codes = try await store.recoveryCodes(of: owner.userID, deadline: context.deadline) {
                response.remaining = Int32(clamping: codes.remaining)
                response.createdAtMs = codes.createdAt.milliseconds
            }
            return response
        }
    }
}
