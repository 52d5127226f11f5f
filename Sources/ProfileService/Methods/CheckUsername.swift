import API
import Models
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels

extension ProfileMethods {
    /// Returns whether a username could be taken now, as UpdateProfile would decide, and suggests others for one that is taken.
    func checkUsername(
        _ request: ProfileV1.CheckUsernameRequest,
        context: ServerContext
    ) async throws -> ProfileV1.CheckUsernameResponse {
        try await context.answer {
            let userID = try callers.userIfAny(of: context)
            let username = try username(request.username)
            var response = ProfileV1.CheckUsernameResponse()
            let check = try await store.check(
                username,
                for: userID,
                caller(context),
                nowMilliseconds: clock.nowMilliseconds
            )
            response.isFree = check.isFree
            response.suggestions = check.suggestions.map(\.value)
            return response
        }
    }

    /// The origin of a call.
    func caller(_ context: ServerContext) -> ProfileCaller {
        ProfileCaller(addressCode: addressKey.code(of: context.metadata), deadline: context.deadline)
    }

    private func username(_ text: String) throws(ProfileError) -> Username {
        do { return try Username(text) } catch { throw .invalidFields([.username(error)]) }
    }
}
