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

extension PhoneEvent {
    /// The event of a message, or nil if it isn't a whole one.
    ///
    /// The number's shape is checked, not whether this service would take it: what the profile service once took is a
    /// fact, also where the two are configured differently.
    init?(_ message: InvitesV1.PhoneEvent) {
        guard let id = EventID(message.eventID), let phone = PhoneNumber(stored: message.phoneNumber) else {
            return nil
        }
        switch message.change {
        case .claimed(let claimed):
            guard let userID = UserID(claimed.userID) else { return nil }
            self.init(id: id, phone: phone, change: .claimed(by: userID))
        case .released(let released):
            guard let userID = UserID(released.userID) else { return nil }
            self.init(id: id, phone: phone, change: .released(by: userID))
        case nil:
            return nil
        }
    }
}

extension UserID {
    /// The user that a request names.
    static func parse(_ text: String) throws(InvitesFault) -> UserID {
        guard let userID = UserID(text) else { throw .userIDInvalid }
        return userID
    }
}

extension GroupID {
    /// The group that a request names. What is no id is no group's.
    static func parse(_ text: String) throws(InvitesFault) -> GroupID {
        guard let groupID = GroupID(text) else { throw .groupNotFound }
        return groupID
    }
}
