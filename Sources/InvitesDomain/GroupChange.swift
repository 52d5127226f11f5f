import Models

/// A change in a user's groups. The client has to request the new state. The change names no user.
public struct GroupChange: Sendable, Hashable {
    /// What can change.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The person is a member of the group from now on.
        case groupJoined = "group.joined"
        /// The person is no member of the group any more, or there is no such group.
        case groupLeft = "group.left"
        /// The group's name, openness or owner has changed.
        case groupChanged = "group.changed"
        /// A member joined, left, was added or is shown differently. Without a member's id, many members changed.
        case memberChanged = "member.changed"
        /// The list of the person's invitations may have changed.
        case invitationChanged = "invitation.changed"
    }

    /// What it is.
    public let kind: Kind
    /// The group; nil for an invitation.
    public let groupID: GroupID?
    /// The membership, if it is about one.
    public let memberID: MemberID?

    /// A change.
    public init(_ kind: Kind, groupID: GroupID?, memberID: MemberID? = nil) {
        self.kind = kind
        self.groupID = groupID
        self.memberID = memberID
    }
}

/// Changes for one audience: each once, and many of one group's members as one.
public struct GroupChangeSet: Sendable, Hashable {
    /// The maximum of changed members of one group that are delivered one by one; more are delivered as one change without an id.
    public static let membersToldMax = 16

    /// The changes, in the order in which they were added.
    public private(set) var changes: [GroupChange] = []
    private var known: Set<GroupChange> = []
    private var memberCounts: [GroupID: Int] = [:]

    /// An empty set.
    public init() {}

    /// The changes of a sequence.
    public init(_ changes: some Sequence<GroupChange>) { for change in changes { insert(change) } }

    /// Adds a change.
    public mutating func insert(_ change: GroupChange) {
        guard !known.contains(change) else { return }
        guard change.kind == .memberChanged, let groupID = change.groupID else { return append(change) }
        let many = GroupChange(.memberChanged, groupID: groupID)
        guard !known.contains(many) else { return }
        memberCounts[groupID, default: 0] += 1
        guard change == many || memberCounts[groupID, default: 0] > Self.membersToldMax else { return append(change) }
        changes.removeAll { $0.kind == .memberChanged && $0.groupID == groupID }
        append(many)
    }

    private mutating func append(_ change: GroupChange) {
        known.insert(change)
        changes.append(change)
    }
}
