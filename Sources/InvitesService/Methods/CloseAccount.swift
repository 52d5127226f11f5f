import API
import InvitesDomain
import Models
import RPC
import ServiceKit

extension InvitesMethods {
    /// Forgets a user whose account was closed. For identity alone.
    func closeAccount(
        _ request: InvitesV1.CloseAccountRequest,
        context: ServerContext
    ) async throws -> InvitesV1.CloseAccountResponse {
        try await context.answer {
            try await accounts.close(
                UserID(request.userID, or: InvitesFault.userIDInvalid),
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            return InvitesV1.CloseAccountResponse()
        }
    }
}
