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
        do {
            let callerID = try UserID.parse(request.userID)
            let groupID = try GroupID.parse(request.groupID)
            let invitee = try Invitee(
                phoneNumber: request.phoneNumber,
                displayName: request.displayName,
                policy: policy
            )
            let member = try await members.add(
                MemberStore.Addition(
                    groupID: groupID,
                    callerID: callerID,
                    invitee: invitee,
                    memberID: identifiers.make(),
                    addressCode: addressKey.code(of: context.metadata),
                    nowMilliseconds: clock.nowMilliseconds
                ),
                membersMax: groupMembersMax,
                limits: limits,
                deadline: context.deadline
            )
            var response = InvitesV1.AddMemberResponse()
            response.member = InvitesV1.Member(member)
            return response
        } catch {
            throw ErrorMap.rpcError(error, mayBeRepeated: context.method.isIdempotent)
        }
    }
}
