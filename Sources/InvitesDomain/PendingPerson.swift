import Models

/// A person about whom something is undecided in a group: the group waits for them, they ask to join, or they are a member in doubt.
public struct PendingPerson: Sendable, Hashable {
    /// What is undecided.
    public enum Kind: Sendable, Hashable {
        /// The group waits for the user with a number.
        case number
        /// A user asks to join by a link.
        case request
        /// A member no longer has the number that they were added by.
        case doubt
    }

    /// Facts about the person, before it is decided what the caller may see.
    public struct Facts: Sendable, Hashable {
        /// The id of the membership, or of the invitation or request that becomes one.
        public let id: MemberID
        /// The group.
        public let groupID: GroupID
        /// What is undecided.
        public let kind: Kind
        /// The user who has the number and would be the member, who asks to join, or who is in doubt. Nil if there is none, if the user
        /// declined, or if the user blocks the caller or all users who added them.
        public let userID: UserID?
        /// The number that the person was added by; nil for a user who asks by a link.
        public let phone: PhoneNumber?
        /// The name that the user who added the person gave.
        public let displayName: ContactName?
        /// The user who added the person; nil for a user who asks by a link, and if that account was closed.
        public let addedBy: UserID?
        /// Whether the caller added the person, as the first or after others.
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

    /// Facts about the person.
    public let facts: Facts
    /// The user, if the caller may know; nil if there is none or the caller may not.
    public let userID: UserID?
    /// The number that the person was added by, if the caller may see it.
    public let shownPhone: PhoneNumber?
    /// Whether the caller may confirm or keep the person now.
    public let mayConfirm: Bool

    /// What a member of the group sees of a person.
    ///
    /// The user who has a number is shown only in groups where people are confirmed, and only to members who may decide. A person in doubt
    /// is a member, whom all members see.
    ///
    /// - Parameters:
    ///   - callerID: the member who makes the request.
    ///   - role: the member's role in the group.
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

    /// Returns whether a member who decides about members in doubt may decide about this one: nobody vouches for themselves except the
    /// owner, who needs nobody.
    public static func mayKeep(_ userID: UserID?, callerID: UserID, role: GroupRole) -> Bool {
        userID != callerID || role == .owner
    }
}
