/// What a member of a group is in it. A group has one owner at all times, who is a member of it.
public enum GroupRole: String, Sendable, Hashable, CaseIterable {
    /// May everything.
    case owner
    /// Helps the owner.
    case admin
    /// Anybody else who is in the group.
    case member
}
