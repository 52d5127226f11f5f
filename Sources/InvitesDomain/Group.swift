import Models

/// A set of people.
public struct Group: Sendable, Hashable {
    /// The group's id.
    public let id: GroupID
    /// What it is called.
    public let name: GroupName
    /// The user who owns it: its creator, or the user whom it was handed to since.
    public let ownerID: UserID
    /// How people become members of it.
    public let openness: GroupOpenness
    /// The role of the user who makes the request.
    public let callerRole: GroupRole
    /// When it was created, in Unix milliseconds.
    public let createdAtMilliseconds: Int64

    /// A group.
    public init(
        id: GroupID,
        name: GroupName,
        ownerID: UserID,
        openness: GroupOpenness,
        callerRole: GroupRole,
        createdAtMilliseconds: Int64
    ) {
        self.id = id
        self.name = name
        self.ownerID = ownerID
        self.openness = openness
        self.callerRole = callerRole
        self.createdAtMilliseconds = createdAtMilliseconds
    }
}
