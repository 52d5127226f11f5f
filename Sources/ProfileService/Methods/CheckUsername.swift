import API
import RPC

extension ProfileMethods {
    func checkUsername(
        _ request: ProfileV1.CheckUsernameRequest,
        context: ServerContext
    ) async throws -> ProfileV1.CheckUsernameResponse {
        throw RPCError(.unimplemented, "TODO")
    }
}
