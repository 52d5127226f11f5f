import API
import InvitesDomain
import Models
import RPC
import ServiceKit

extension InvitesMethods {
    /// Adds a person by phone number, or returns the member there is.
    func addMember(
        _ request: InvitesV1.AddMemberRequest,
        context: ServerContext
    ) async throws -> InvitesV1.AddMemberResponse {
        try await context.answer {
            let callerID = try UserID(request.userID, or: InvitesFault.userIDInvalid)
            let groupID = try GroupID(request.groupID, or: InvitesFault.groupNotFound)
            let invitee = try Invitee(
                phoneNumber: request.phoneNumber,
                displayName: request.displayName,
                policy: phonePolicy
            )
            let member = try await members.add(
                MemberStore.NewMember(
                    groupID: groupID,
                    callerID: callerID,
                    invitee: invitee,
                    memberID: identifiers.make(),
                    addressCode: addressKey.code(of: context.metadata),
                    nowMilliseconds: clock.nowMilliseconds
                ),
                limits: limits,
                deadline: context.deadline
            )
            var response = InvitesV1.AddMemberResponse()
            response.member = InvitesV1.Member(member)
            return response
        }
    }
}
