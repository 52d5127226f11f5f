import API
import Foundation
import ProfileDomain
import RPC
import ServiceKit

extension ProfileMethods {
    /// Returns an uploaded avatar to any client that knows its id.
    func getAvatar(
        _ request: ProfileV1.GetAvatarRequest,
        context: ServerContext
    ) async throws -> ProfileV1.GetAvatarResponse {
        try await context.answer {
            guard let id = AvatarID(request.avatarID),
                let avatar = try await store.avatar(id, withImage: !request.withoutImage, deadline: context.deadline)
            else { throw ProfileError.avatarUnknown }
            var response = ProfileV1.GetAvatarResponse()
            response.image = Data(avatar.bytes)
            response.contentType = avatar.contentType
            return response
        }
    }
}
