import Models

/// A person in, or awaited by, a group.
public struct Member: Sendable, Hashable {
    /// Whether the person is in the group yet.
    public enum State: Sendable, Hashable {
        /// The person is this user, and in the group.
        case member(UserID)
        /// The group waits for a user with the member's phone number, or for a member to confirm that the user is the person meant.
        case pending
        /// The person was invited to a group in which people accept, and hasn't accepted yet, whether or not a user has the number.
        case invited

        /// The user, nil until the person is one.
        public var userID: UserID? {
            switch self {
            case .member(let userID): userID
            case .pending, .invited: nil
            }
        }
    }

    /// The membership's id, which stays when a pending member becomes a member.
    public let id: MemberID
    /// The group.
    public let groupID: GroupID
    /// Whether the person is in the group yet.
    public let state: State
    /// The member's role; nil until the person is a member.
    public let role: GroupRole?
    /// Whether the user no longer has the number that they were added by, and no member has confirmed them since.
    public let isUnconfirmed: Bool
    /// Whether the user is a member only by a phone number that they haven't proven, and no member has confirmed them: they can't add or
    /// confirm anybody.
    public let isUnproven: Bool
    /// The number that the person was added by, nil for the group's creator. Only ``shownPhone`` is for callers.
    public let phone: PhoneNumber?
    /// Whether the caller is shown the number: see ``MemberViewer``.
    public internal(set) var isPhoneShown: Bool
    /// The name that the inviter gave; nil for a creator who gave none.
    public let displayName: ContactName?
    /// When the person was added, in Unix milliseconds.
    public let addedAtMilliseconds: Int64

    /// A member.
    ///
    /// - Parameters:
    ///   - byUnprovenNumber: whether the user was linked by a number that isn't proven to be theirs, and nobody has confirmed them.
    ///   - adders: the users who added the person, the first of them first.
    ///   - viewer: the member who asks.
    public init(
        id: MemberID,
        groupID: GroupID,
        state: State,
        role: GroupRole?,
        isUnconfirmed: Bool = false,
        byUnprovenNumber: Bool = false,
        phone: PhoneNumber?,
        displayName: ContactName?,
        addedAtMilliseconds: Int64,
        adders: [UserID],
        viewer: MemberViewer
    ) {
        self.id = id
        self.groupID = groupID
        self.state = state
        self.role = role
        self.isUnconfirmed = isUnconfirmed
        isUnproven = GroupPolicy.isUnproven(role, byUnprovenNumber: byUnprovenNumber)
        self.phone = phone
        self.displayName = displayName
        self.addedAtMilliseconds = addedAtMilliseconds
        isPhoneShown = viewer.seesPhone(of: state.userID, isAddedByViewer: adders.contains(viewer.userID))
    }

    /// The user, nil until the person is one.
    public var userID: UserID? { state.userID }

    /// The number as far as the caller may know it.
    public var shownPhone: PhoneNumber? { isPhoneShown ? phone : nil }
}
