import Models

/// What ``GroupLinkID`` is an id of: a link by which people join a group.
public enum GroupLinkTag {}
/// The id of a link by which people join a group.
public typealias GroupLinkID = Identifier<GroupLinkTag>

/// A link by which people join a group without a number.
public struct GroupLink: Sendable, Hashable {
    /// The maximum of good links that a group has at once.
    public static let linksMax = 100

    /// The link's id, which its token begins with.
    public let id: GroupLinkID
    /// The group.
    public let groupID: GroupID
    /// The user who made it; nil if that account was closed.
    public let createdBy: UserID?
    /// When it was made, in Unix milliseconds.
    public let createdAtMilliseconds: Int64
    /// Until when people join by it, in Unix milliseconds.
    public let expiresAtMilliseconds: Int64
    /// How many users may join by it; nil for any number.
    public let usesMax: Int?
    /// How many users have joined by it.
    public let uses: Int

    /// A link.
    public init(
        id: GroupLinkID,
        groupID: GroupID,
        createdBy: UserID?,
        createdAtMilliseconds: Int64,
        expiresAtMilliseconds: Int64,
        usesMax: Int?,
        uses: Int
    ) {
        self.id = id
        self.groupID = groupID
        self.createdBy = createdBy
        self.createdAtMilliseconds = createdAtMilliseconds
        self.expiresAtMilliseconds = expiresAtMilliseconds
        self.usesMax = usesMax
        self.uses = uses
    }
}

/// A link to make, every field of it valid.
public struct NewGroupLink: Sendable, Hashable {
    /// How many seconds a link may be good: a minute to 90 days.
    public static let lifetimeSeconds: ClosedRange<Int> = 60...7_776_000
    /// How many seconds it is good if the request doesn't say: 7 days.
    public static let lifetimeSecondsDefault = 604_800
    /// How many users a link may be for, if it isn't for any number.
    public static let usesRange: ClosedRange<Int> = 1...1_000

    /// How many seconds it is good.
    public let lifetimeSeconds: Int
    /// How many users may join by it; nil for any number.
    public let usesMax: Int?

    /// A link as a request wants it, in which 0 stands for the default lifetime, and for any number of users.
    ///
    /// - Throws: ``InvitesError/invalidFields(_:)`` with all faults.
    public init(lifetimeSeconds: Int, usesMax: Int) throws(InvitesError) {
        var faults: [FieldError] = []
        let lifetime = lifetimeSeconds == 0 ? Self.lifetimeSecondsDefault : lifetimeSeconds
        if !Self.lifetimeSeconds.contains(lifetime) { faults.append(.linkLifetime) }
        if usesMax != 0, !Self.usesRange.contains(usesMax) { faults.append(.linkUses) }
        guard faults.isEmpty else { throw .invalidFields(faults) }
        self.lifetimeSeconds = lifetime
        self.usesMax = usesMax == 0 ? nil : usesMax
    }
}
