import API
import Models
import ProfileDomain
import RPC
import ServiceKit

extension ProfileMethods {
    /// Returns any user's profile, for services; a user who gave no data yet has an empty one.
    func lookUpProfile(
        _ request: ProfileV1.LookUpProfileRequest,
        context: ServerContext
    ) async throws -> ProfileV1.LookUpProfileResponse {
        try await context.answer {
            let userID = try UserID(request.userID, or: ProfileError.userIDInvalid)
            let profile = try await store.profile(of: userID, deadline: context.deadline)
            var response = ProfileV1.LookUpProfileResponse()
            response.profile = ProfileV1.Profile(profile, required: requiredFields)
            return response
        }
    }
}
