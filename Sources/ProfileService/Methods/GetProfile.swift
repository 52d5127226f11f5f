import API
import Models
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels

extension ProfileMethods {
    /// Returns the user's profile; a user who gave no data yet has an empty one with every field missing.
    func getProfile(
        _ request: ProfileV1.GetProfileRequest,
        context: ServerContext
    ) async throws -> ProfileV1.GetProfileResponse {
        try await context.answer {
            let (userID, isGuest) = try callers.userOrGuest(of: context)
            let profile = try await store.profile(of: userID, deadline: context.deadline)
            var response = ProfileV1.GetProfileResponse()
            response.profile = ProfileV1.Profile(profile, required: isGuest ? requiredFields.ofGuests : requiredFields)
            return response
        }
    }
}
