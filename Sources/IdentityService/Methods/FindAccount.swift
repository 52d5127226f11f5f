import API
import RPC

extension IdentityMethods {
    func findAccount(
        _ request: IdentityV1.FindAccountRequest,
        context: ServerContext
    ) async throws -> IdentityV1.FindAccountResponse {
        throw RPCError(.unimplemented, "TODO")
    }
}
