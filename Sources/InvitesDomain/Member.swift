import Models

/// A person in, or awaited by, a group.
public struct Member: Sendable, Hashable {
    /// Whether the person is in the group yet.
    public enum State: Sendable, Hashable {
        /// The person is this user, and in the group.
        case member(UserID)
        /// The group waits for a user with the member's phone number.
        case pending
    }

    /// The membership's id, which stays when a pending member becomes a member.
    public let id: MemberID
    /// The group.
    public let groupID: GroupID
    /// Whether the person is in the group yet.
    public let state: State
    /// The number that the person was added by, nil for the group's creator.
    public let phone: PhoneNumber?
    /// The name that the inviter gave; nil for a creator who gave none.
    public let displayName: DisplayName?
    /// When the person was added, in Unix milliseconds.
    public let addedAtMilliseconds: Int64

    /// A member.
    public init(
        id: MemberID,
        groupID: GroupID,
        state: State,
        phone: PhoneNumber?,
        displayName: DisplayName?,
        addedAtMilliseconds: Int64
    ) {
        self.id = id
        self.groupID = groupID
        self.state = state
        self.phone = phone
        self.displayName = displayName
        self.addedAtMilliseconds = addedAtMilliseconds
    }

    /// The user, nil while pending.
    public var userID: UserID? {
        switch state {
        case .member(let userID): userID
        case .pending: nil
        }
    }
}
