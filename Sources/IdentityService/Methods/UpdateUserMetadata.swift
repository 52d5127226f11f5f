import API
import RPC

extension IdentityMethods {
    func updateUserMetadata(
        _ request: IdentityV1.UpdateUserMetadataRequest,
        context: ServerContext
    ) async throws -> IdentityV1.UpdateUserMetadataResponse {
        throw RPCError(.unimplemented, "TODO")
    }
}
