import API
import Models
import ProfileDomain
import RPC
import ServiceKit

extension ProfileMethods {
    /// Deletes the data of a user whose account was closed. For identity alone.
    func closeAccount(
        _ request: ProfileV1.CloseAccountRequest,
        context: ServerContext
    ) async throws -> ProfileV1.CloseAccountResponse {
        try await context.answer {
            try await close(UserID(request.userID, or: ProfileError.userIDInvalid), context)
            return ProfileV1.CloseAccountResponse()
        }
    }

    /// Deletes a user's data, and starts the delivery of the events.
    func close(_ userID: UserID, _ context: ServerContext) async throws {
        let hasEvents = try await store.close(
            userID,
            nowMilliseconds: clock.nowMilliseconds,
            deadline: context.deadline
        )
        if hasEvents { phoneChanged() }
    }
}
