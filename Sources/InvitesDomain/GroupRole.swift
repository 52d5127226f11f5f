/// The role of a member in a group. A group has exactly one owner at all times, who is a member of it.
public enum GroupRole: String, Sendable, Hashable, CaseIterable {
    /// May do everything.
    case owner
    /// Helps the owner.
    case admin
    /// Any other member.
    case member
}
