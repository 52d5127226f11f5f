import API
import Images
import Models
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels

extension ProfileMethods {
    /// Keeps an image as the user's avatar, and returns the whole profile. Guests may not: a flood of guests would fill the database.
    func setAvatar(
        _ request: ProfileV1.SetAvatarRequest,
        context: ServerContext
    ) async throws -> ProfileV1.SetAvatarResponse {
        try await context.answer {
            let userID = try callers.fullUser(of: context)
            let bytesMax = store.limits.avatarBytesMax
            guard request.image.count <= bytesMax else { throw ProfileError.avatarTooLarge(bytesMax: bytesMax) }
            let image = try await self.image([UInt8](request.image))
            let profile = try await store.setAvatar(
                image,
                of: userID,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = ProfileV1.SetAvatarResponse()
            response.profile = ProfileV1.Profile(profile, required: requiredFields)
            return response
        }
    }

    /// Checks an uploaded file. Not on the event loop, since it reads each byte.
    private func image(_ file: [UInt8]) async throws(ProfileError) -> SafeImage {
        let result = await withTaskExecutorPreference(globalConcurrentExecutor) {
            Result { () throws(SafeImage.Fault) in try SafeImage(file) }
        }
        do {
            return try result.get()
        } catch {
            throw .avatarInvalid(AvatarError(error))
        }
    }
}

extension AvatarError {
    /// The error for a file that isn't a picture.
    init(_ fault: SafeImage.Fault) {
        self =
            switch fault {
            case .unknownKind: .unknownKind
            case .truncated, .malformed, .unsupported: .malformed
            case .tooManyPixels: .tooManyPixels
            case .animated: .animated
            }
    }
}
