import Models

/// What adding a number to a group comes to.
public enum Addition: Sendable, Hashable {
    /// The person is there already.
    case existing(Member)
    /// A user has the number: a member at once.
    case member(UserID)
    /// Nobody has the number yet: the group waits.
    case pending
    /// The group has no room.
    case full

    /// Decides, while the row of the number is locked so that its owner can't change.
    ///
    /// - Parameters:
    ///   - phoneOwner: the user who has the number now, nil if nobody has.
    ///   - related: the group's members who are the owner or who were added by this number; at most a few.
    ///   - memberCount: all of the group's members, pending ones included.
    ///   - membersMax: how many it may have.
    public static func decide(
        phoneOwner: UserID?,
        related: [Member],
        memberCount: Int,
        membersMax: Int
    ) -> Addition {
        if let phoneOwner {
            // Whoever else was once added by this number and has another now is not the person meant.
            if let member = related.first(where: { $0.userID == phoneOwner }) { return .existing(member) }
        } else {
            if let pending = related.first(where: { $0.state == .pending }) { return .existing(pending) }
            // Added by this number, linked, and the number given up since: still the person who was meant.
            if let member = related.max(by: { $0.id < $1.id }) { return .existing(member) }
        }
        guard memberCount < membersMax else { return .full }
        return phoneOwner.map(Addition.member) ?? .pending
    }
}
