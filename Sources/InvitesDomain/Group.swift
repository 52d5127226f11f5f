import Models

/// A set of people.
public struct Group: Sendable, Hashable {
    /// The group's id.
    public let id: GroupID
    /// What it is called.
    public let name: GroupName
    /// The user who created it.
    public let ownerID: UserID
    /// When it was created, in Unix milliseconds.
    public let createdAtMilliseconds: Int64

    /// A group.
    public init(id: GroupID, name: GroupName, ownerID: UserID, createdAtMilliseconds: Int64) {
        self.id = id
        self.name = name
        self.ownerID = ownerID
        self.createdAtMilliseconds = createdAtMilliseconds
    }

    /// What a member of this group is to it.
    public func role(of userID: UserID) -> Role { userID == ownerID ? .owner : .member }
}

/// What a member is to a group.
public enum Role: Sendable, Hashable, CaseIterable {
    /// Created the group.
    case owner
    /// Was added to it.
    case member

    /// Whether this role may add people. Both may; a person who is no member has no role.
    public var mayAddMembers: Bool {
        switch self {
        case .owner, .member: true
        }
    }
}
