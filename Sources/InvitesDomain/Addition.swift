import Models

/// The outcome of adding a number to a group.
public enum Addition: Sendable, Hashable {
    /// The person is there already.
    case existing(Member)
    /// A user has the number: a member at once.
    case member(UserID)
    /// The group waits: for a user to take the number, or for what its openness asks for.
    case pending
    /// The group has no room.
    case full

    /// Decides, while the row of the number is locked so that its owner can't change.
    ///
    /// - Parameters:
    ///   - phone: the number.
    ///   - phoneOwner: the user who has the number now; nil if no user has it.
    ///   - openness: the group's. Where people accept, the adder doesn't learn who has a number.
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
            // All members see a member who was added by this number and has it. Whether another user has it makes no difference.
            return pending ?? related.first { $0.phone == phone && $0.userID == phoneOwner }
        }
        if let phoneOwner {
            // Another user who was once added by this number and has a different one now is not the person meant. In an open group nobody
            // waits for a number that a user has, unless the user blocks everybody who added it.
            return related.first { $0.userID == phoneOwner } ?? (openness == .open ? nil : pending)
        }
        // Added by this number, linked, and the number given up since: still the person who was meant.
        return pending ?? related.max { $0.id < $1.id }
    }
}
