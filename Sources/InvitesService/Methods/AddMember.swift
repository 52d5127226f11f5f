import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Adds a person by phone number, or returns the existing member. Guests may not: each addition reveals whether a user has the number, and a
    /// guest account costs nobody an identity.
    func addMember(
        _ request: AppV1.AddMemberRequest,
        context: ServerContext
    ) async throws -> AppV1.AddMemberResponse {
        try await context.answer {
            let callerID = try callers.fullUser(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            let invitee = try Invitee(
                phoneNumber: request.phoneNumber,
                displayName: request.displayName,
                policy: phonePolicy
            )
            let answers = try await add([invitee], to: groupID, by: callerID, context)
            var response = AppV1.AddMemberResponse()
            switch answers[0] {
            case .added(let member): response.member = AppV1.Member(member)
            case .known(let member), .recognized(let member):
                response.member = AppV1.Member(member)
                response.existed = true
            case .refused(let fault): throw fault
            }
            return response
        }
    }

    /// Adds people of different numbers to a group, and returns an answer for each.
    func add(
        _ invitees: [Invitee],
        to groupID: GroupID,
        by callerID: UserID,
        _ context: ServerContext
    ) async throws -> [Roster.Answer] {
        let people = invitees.map { invitee in
            MemberStore.NewMembers.Person(
                invitee: invitee,
                memberID: identifiers.make(),
                numberCode: addressKey.code(ofNumber: invitee.phone.digits, askedBy: callerID.bytes)
            )
        }
        return try await members.add(
            MemberStore.NewMembers(
                groupID: groupID,
                callerID: callerID,
                people: people,
                addressCode: addressKey.code(of: context.metadata),
                nowMilliseconds: clock.nowMilliseconds
            ),
            limits: limits,
            deadline: context.deadline
        )
    }
}
