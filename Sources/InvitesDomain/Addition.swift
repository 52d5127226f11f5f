import Models

/// What adding a number to a group comes to.
public enum Addition: Sendable, Hashable {
    /// The person is there already.
    case existing(Member)
    /// A user has the number: a member at once.
    case member(UserID)
    /// The group waits: for somebody to have the number, or for what its openness asks for.
    case pending
    /// The group has no room.
    case full

    /// Decides, while the row of the number is locked so that its owner can't change.
    ///
    /// - Parameters:
    ///   - phone: the number.
    ///   - phoneOwner: the user who has the number now, nil if nobody has.
    ///   - openness: the group's. Where people accept, whoever adds learns nothing of who has a number.
    ///   - related: the group's members who are the owner or who were added by this number; at most a few.
    ///   - memberCount: all of the group's members, pending ones included.
    ///   - membersMax: how many it may have.
    public static func decide(
        _ phone: PhoneNumber,
        phoneOwner: UserID?,
        openness: GroupOpenness,
        related: [Member],
        memberCount: Int,
        membersMax: Int
    ) -> Addition {
        if let existing = existing(phone, phoneOwner, openness, related) { return .existing(existing) }
        guard memberCount < membersMax else { return .full }
        guard openness == .open, let phoneOwner else { return .pending }
        return .member(phoneOwner)
    }

    private static func existing(
        _ phone: PhoneNumber,
        _ phoneOwner: UserID?,
        _ openness: GroupOpenness,
        _ related: [Member]
    ) -> Member? {
        let pending = related.first { $0.userID == nil }
        guard openness != .consent else {
            // A member who was added by this number and has it is seen by all. Whether anybody has it else makes no difference.
            return pending ?? related.first { $0.phone == phone && $0.userID == phoneOwner }
        }
        if let phoneOwner {
            // Whoever else was once added by this number and has another now is not the person meant.
            // In an open group nobody waits for a number that a user has, but by somebody whom the user blocks.
            return related.first { $0.userID == phoneOwner } ?? (openness == .open ? nil : pending)
        }
        // Added by this number, linked, and the number given up since: still the person who was meant.
        return pending ?? related.max { $0.id < $1.id }
    }
}
