import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Confirms that a user is the person meant.
    func confirmMember(
        _ request: AppV1.ConfirmMemberRequest,
        context: ServerContext
    ) async throws -> AppV1.ConfirmMemberResponse {
        try await context.answer {
            let callerID = try callers.user(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            let confirmation = PendingStore.Confirmation(
                groupID: groupID,
                memberID: try MemberID(request.memberID, or: InvitesError.memberNotFound),
                userID: try UserID(request.confirmedUserID, or: InvitesError.userIDInvalid),
                callerID: callerID,
                nowMilliseconds: clock.nowMilliseconds
            )
            let member = try await pending.confirm(
                confirmation,
                limits: limits,
                deadline: context.deadline
            )
            var response = AppV1.ConfirmMemberResponse()
            response.member = AppV1.Member(member)
            return response
        }
    }
}
