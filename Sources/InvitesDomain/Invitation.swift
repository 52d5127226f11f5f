import Models

/// A group that waits for a user who has the number that was added, or that a user has asked to join.
public struct Invitation: Sendable, Hashable {
    /// Who decides whether the user becomes a member.
    public enum Decision: Sendable, Hashable {
        /// The user, by accepting.
        case consent
        /// A member of the group, by confirming that the user is the person meant.
        case confirmation
    }

    /// The invitation's id: the membership's, if it becomes one.
    public let id: MemberID
    /// The group.
    public let groupID: GroupID
    /// What it is called.
    public let groupName: GroupName
    /// Who decides.
    public let decision: Decision
    /// The user who added the number; nil for a request to join, and if that account was closed.
    public let addedBy: UserID?
    /// Whether it is the user's own request to join.
    public let isRequest: Bool
    /// When it began to wait, in Unix milliseconds.
    public let sinceMilliseconds: Int64
    /// Until when, in Unix milliseconds; nil for ever.
    public let expiresAtMilliseconds: Int64?

    /// An invitation.
    public init(
        id: MemberID,
        groupID: GroupID,
        groupName: GroupName,
        decision: Decision,
        addedBy: UserID?,
        isRequest: Bool,
        sinceMilliseconds: Int64,
        expiresAtMilliseconds: Int64?
    ) {
        self.id = id
        self.groupID = groupID
        self.groupName = groupName
        self.decision = decision
        self.addedBy = addedBy
        self.isRequest = isRequest
        self.sinceMilliseconds = sinceMilliseconds
        self.expiresAtMilliseconds = expiresAtMilliseconds
    }
}
