import API
import Models
import ProfileDomain
import RPC
import ServiceKit

extension ProfileMethods {
    /// Deletes a user who has nothing here but a name, or for a guest a username too, so that another account can absorb theirs. For identity alone.
    func closeIfEmpty(
        _ request: ProfileV1.CloseIfEmptyRequest,
        context: ServerContext
    ) async throws -> ProfileV1.CloseIfEmptyResponse {
        try await context.answer {
            var response = ProfileV1.CloseIfEmptyResponse()
            response.isEmpty = try await store.closeIfEmpty(
                UserID(request.userID, or: ProfileError.userIDInvalid),
                absorption: EventID(request.absorptionID, or: ProfileError.absorptionIDInvalid),
                isGuest: request.isGuest,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            return response
        }
    }
}
