import API
import Models
import RPC

extension ProfileMethods {
    /// Returns a user's profile; a user who told nothing yet has an empty one with every field missing.
    func getProfile(
        _ request: ProfileV1.GetProfileRequest,
        context: ServerContext
    ) async throws -> ProfileV1.GetProfileResponse {
        do {
            let profile = try await store.profile(of: .parse(request.userID), deadline: context.deadline)
            var response = ProfileV1.GetProfileResponse()
            response.profile = ProfileV1.Profile(profile)
            return response
        } catch {
            throw ErrorMap.rpcError(error, mayBeRepeated: context.method.isIdempotent)
        }
    }
}
