import API
import RPC

extension IdentityMethods {
    func finishWebSignIn(
        _ request: IdentityV1.FinishWebSignInRequest,
        context: ServerContext
    ) async throws -> IdentityV1.FinishWebSignInResponse {
        throw RPCError(.unimplemented, "TODO")
    }
}
