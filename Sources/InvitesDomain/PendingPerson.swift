import Models

/// A person about whom something is undecided in a group: who is waited for, asks to join, or is a member in doubt.
public struct PendingPerson: Sendable, Hashable {
    /// What is undecided.
    public enum Kind: Sendable, Hashable {
        /// The group waits for the user with a number.
        case number
        /// A user asks to join by a link.
        case request
        /// A member has the number no more that they were added by.
        case doubt
    }

    /// What is known of the person, whoever asks.
    public struct Facts: Sendable, Hashable {
        /// The membership's id, or that of what becomes one.
        public let id: MemberID
        /// The group.
        public let groupID: GroupID
        /// What is undecided.
        public let kind: Kind
        /// The user who has the number and would be the member, who asks, or who is in doubt; nil if there is none, or the user declined, or
        /// blocks all who added them or who asks.
        public let userID: UserID?
        /// The number that the person was added by; nil for one who asks by a link.
        public let phone: PhoneNumber?
        /// The name that whoever added the person gave.
        public let displayName: ContactName?
        /// The user who added the person; nil for one who asks by a link, and if that account was closed.
        public let addedBy: UserID?
        /// Whether who asks added the person, as the first or after others.
        public let isAddedByCaller: Bool
        /// Since when, in Unix milliseconds.
        public let sinceMilliseconds: Int64
        /// Until when, in Unix milliseconds; nil for ever.
        public let expiresAtMilliseconds: Int64?

        /// Facts.
        public init(
            id: MemberID,
            groupID: GroupID,
            kind: Kind,
            userID: UserID?,
            phone: PhoneNumber?,
            displayName: ContactName?,
            addedBy: UserID?,
            isAddedByCaller: Bool,
            sinceMilliseconds: Int64,
            expiresAtMilliseconds: Int64?
        ) {
            self.id = id
            self.groupID = groupID
            self.kind = kind
            self.userID = userID
            self.phone = phone
            self.displayName = displayName
            self.addedBy = addedBy
            self.isAddedByCaller = isAddedByCaller
            self.sinceMilliseconds = sinceMilliseconds
            self.expiresAtMilliseconds = expiresAtMilliseconds
        }
    }

    /// What is known of the person.
    public let facts: Facts
    /// The user, as far as who asks may know: nil if there is none or they may not.
    public let userID: UserID?
    /// The number that the person was added by, as far as who asks may know it.
    public let shownPhone: PhoneNumber?
    /// Whether who asks may confirm or keep the person now.
    public let mayConfirm: Bool

    /// What a member of the group is shown of a person.
    ///
    /// Who has a number is shown only where it is decided upon, in groups where people are confirmed, and only to those who may
    /// decide. Who is in doubt is a member, whom all see.
    ///
    /// - Parameters:
    ///   - callerID: the member who asks.
    ///   - role: what they are in the group.
    ///   - openness: the group's.
    public init(_ facts: Facts, askedBy callerID: UserID, role: GroupRole, openness: GroupOpenness) {
        self.facts = facts
        let viewer = MemberViewer(userID: callerID, role: role)
        shownPhone = viewer.seesPhone(of: facts.userID, isAddedByViewer: facts.isAddedByCaller) ? facts.phone : nil
        let decides = GroupPolicy.may(role, .confirm(addedByCaller: facts.isAddedByCaller))
        switch facts.kind {
        case .number:
            userID = openness == .confirm && decides ? facts.userID : nil
            mayConfirm = userID != nil
        case .request:
            userID = decides ? facts.userID : nil
            mayConfirm = userID != nil
        case .doubt:
            userID = facts.userID
            mayConfirm = decides && Self.mayKeep(facts.userID, callerID: callerID, role: role)
        }
    }

    /// Whether somebody who decides about a member in doubt may do it about this one: nobody vouches for themselves but the owner, who
    /// needs nobody.
    public static func mayKeep(_ userID: UserID?, callerID: UserID, role: GroupRole) -> Bool {
        userID != callerID || role == .owner
    }
}
