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
}
