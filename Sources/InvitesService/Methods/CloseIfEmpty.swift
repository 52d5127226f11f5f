import API
import InvitesDomain
import Models
import RPC
import ServiceKit

extension InvitesMethods {
    /// Holds a user who is in no group, or a guest, so that another account can absorb theirs. For identity alone.
    func closeIfEmpty(
        _ request: InvitesV1.CloseIfEmptyRequest,
        context: ServerContext
    ) async throws -> InvitesV1.CloseIfEmptyResponse {
        try await context.answer {
            var response = InvitesV1.CloseIfEmptyResponse()
            response.isEmpty = try await accounts.hold(
                UserID(request.userID, or: InvitesError.userIDInvalid),
                absorption: EventID(request.absorptionID, or: InvitesError.absorptionIDInvalid),
                isGuest: request.isGuest,
                groups: limits.userGroups,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            return response
        }
    }
}
