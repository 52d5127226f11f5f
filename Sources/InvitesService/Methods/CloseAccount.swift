import API
import InvitesDomain
import Models
import RPC
import ServiceKit

extension InvitesMethods {
    /// Closes a user's account for good: data that is not deleted at once is deleted soon. For identity alone.
    func closeAccount(
        _ request: InvitesV1.CloseAccountRequest,
        context: ServerContext
    ) async throws -> InvitesV1.CloseAccountResponse {
        try await context.answer {
            try await closings.close(
                UserID(request.userID, or: InvitesError.userIDInvalid),
                successor: request.successorUserID.isEmpty
                    ? nil : UserID(request.successorUserID, or: InvitesError.userIDInvalid),
                deadline: context.deadline
            )
            return InvitesV1.CloseAccountResponse()
        }
    }
}
