import API
import Models
import ProfileDomain
import RPC
import ServiceKit

extension ProfileMethods {
    /// Changes the fields that are present, all or none, and returns the whole profile.
    func updateProfile(
        _ request: ProfileV1.UpdateProfileRequest,
        context: ServerContext
    ) async throws -> ProfileV1.UpdateProfileResponse {
        try await context.answer {
            let userID = try UserID(request.userID, or: ProfileFault.userIDInvalid)
            let change = try ProfileChange(request, policy: phonePolicy, required: requiredFields)
            let (profile, hasEvents) = try await store.update(
                userID,
                applying: change,
                by: ProfileCaller(addressCode: addressKey.code(of: context.metadata), deadline: context.deadline),
                nowMilliseconds: clock.nowMilliseconds
            )
            if hasEvents { nudgeOutbox() }
            var response = ProfileV1.UpdateProfileResponse()
            response.profile = ProfileV1.Profile(profile, required: requiredFields)
            return response
        }
    }
}
