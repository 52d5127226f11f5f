import API
import Models
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels

extension ProfileMethods {
    /// The maximum of users in one call: a page of a list.
    static let usersMax = 100

    /// Returns the public profiles of users.
    func batchGetProfiles(
        _ request: ProfileV1.BatchGetProfilesRequest,
        context: ServerContext
    ) async throws -> ProfileV1.BatchGetProfilesResponse {
        try await context.answer {
            // Any signed-in user may ask; the gateway asks only about users whom the person is shown.
            _ = try callers.user(of: context)
            guard request.userIds.count <= Self.usersMax else { throw ProfileError.tooManyUsers }
            let userIDs = try request.userIds.map { text throws(ProfileError) in
                try UserID(text, or: ProfileError.userIDInvalid)
            }
            let profiles = try await store.publicProfiles(of: userIDs, deadline: context.deadline)
            var response = ProfileV1.BatchGetProfilesResponse()
            response.profiles = profiles.map { ProfileV1.PublicProfile($0) }
            return response
        }
    }
}
