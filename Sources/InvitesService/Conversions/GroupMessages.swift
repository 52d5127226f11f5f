import API
import InvitesDomain
import Models

extension InvitesV1.Group {
    /// The message of a group.
    init(_ group: Group) {
        self.init()
        groupID = group.id.description
        name = group.name.value
        ownerUserID = group.ownerID.description
        createdAtMs = group.createdAtMilliseconds
    }
}

extension InvitesV1.Member {
    /// The message of a member.
    init(_ member: Member) {
        self.init()
        memberID = member.id.description
        groupID = member.groupID.description
        switch member.state {
        case .member(let user):
            state = .member
            userID = user.description
        case .pending:
            state = .pending
        }
        phoneNumber = member.phone?.e164 ?? ""
        displayName = member.displayName?.value ?? ""
        addedAtMs = member.addedAtMilliseconds
    }
}
