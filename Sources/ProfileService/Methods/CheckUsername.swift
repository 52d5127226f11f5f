import API
import Models
import ProfileDomain
import RPC
import ServiceKit

extension ProfileMethods {
    /// Tells whether a username could be taken now, as UpdateProfile would decide.
    func checkUsername(
        _ request: ProfileV1.CheckUsernameRequest,
        context: ServerContext
    ) async throws -> ProfileV1.CheckUsernameResponse {
        try await context.answer {
            let userID = try request.userID.isEmpty ? nil : UserID(request.userID, or: ProfileFault.userIDInvalid)
            let username = try username(request.username)
            var response = ProfileV1.CheckUsernameResponse()
            response.isFree = try await store.isFree(username, for: userID, deadline: context.deadline)
            return response
        }
    }

    private func username(_ text: String) throws(ProfileFault) -> Username {
        do { return try Username(text) } catch { throw .invalidFields([.username(error)]) }
    }
}
