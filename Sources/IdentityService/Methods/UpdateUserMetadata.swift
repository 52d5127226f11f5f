import API
import IdentityDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension IdentityMethods {
    /// Changes what an app keeps of its own with the caller's account.
    func updateUserMetadata(
        _ request: IdentityV1.UpdateUserMetadataRequest,
        context: ServerContext
    ) async throws -> IdentityV1.UpdateUserMetadataResponse {
        try await context.answer {
            let (userID, isGuest) = try callers.userOrGuest(of: context)
            let metadata = try await store.changeMetadata(
                of: userID,
                applying: MetadataChange(parsing: request.changesJson),
                bytesMax: isGuest ? GuestLimits.metadataBytesMax : UserMetadata.bytesMax,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = IdentityV1.UpdateUserMetadataResponse()
            response.metadataJson = metadata.text
            return response
        }
    }
}
