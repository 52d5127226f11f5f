import API
import RPC

extension IdentityMethods {
    func beginWebSignIn(
        _ request: IdentityV1.BeginWebSignInRequest,
        context: ServerContext
    ) async throws -> IdentityV1.BeginWebSignInResponse {
        throw RPCError(.unimplemented, "TODO")
    }
}
