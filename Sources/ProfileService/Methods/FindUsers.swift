import API
import Models
import ProfileDomain
import RPC
import ServiceKit

extension ProfileMethods {
    /// The most users that are returned.
    private static let usersFoundMax = 16

    /// Returns the users with a username, or whose display names begin with a text. For identity alone.
    func findUsers(
        _ request: ProfileV1.FindUsersRequest,
        context: ServerContext
    ) async throws -> ProfileV1.FindUsersResponse {
        try await context.answer {
            var found: [UserID] = []
            switch request.by {
            case .username(let text):
                if let username = try? Username(text) {
                    found = try await [store.holder(of: username, deadline: context.deadline)].compactMap { $0 }
                }
            case .namePrefix(let text):
                // One more than is returned shows whether there are others.
                found = try await store.users(
                    named: prefix(text),
                    limit: Self.usersFoundMax + 1,
                    deadline: context.deadline
                )
            case nil: break
            }
            var response = ProfileV1.FindUsersResponse()
            response.userIds = found.prefix(Self.usersFoundMax).map(\.description)
            response.isIncomplete = found.count > Self.usersFoundMax
            return response
        }
    }

    private func prefix(_ text: String) throws(ProfileError) -> NamePrefix {
        do throws(TextError) {
            return try NamePrefix(text)
        } catch {
            throw .invalidFields([.displayName(error)])
        }
    }
}
