import API
import InvitesDomain
import Models
import RPC
import ServiceKit

extension InvitesMethods {
    /// Ends the hold of a user whose account is not absorbed. For identity alone.
    func reopenAccount(
        _ request: InvitesV1.ReopenAccountRequest,
        context: ServerContext
    ) async throws -> InvitesV1.ReopenAccountResponse {
        try await context.answer {
            try await accounts.reopen(
                UserID(request.userID, or: InvitesError.userIDInvalid),
                absorption: EventID(request.absorptionID, or: InvitesError.absorptionIDInvalid),
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            return InvitesV1.ReopenAccountResponse()
        }
    }
}
