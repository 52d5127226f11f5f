import API
import RPC

extension IdentityMethods {
    func renewSingleToken(
        _ request: IdentityV1.RenewSingleTokenRequest,
        context: ServerContext
    ) async throws -> IdentityV1.RenewSingleTokenResponse {
        throw RPCError(.unimplemented, "TODO")
    }
}
