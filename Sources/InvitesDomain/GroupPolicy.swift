/// Which role may do what in a group: the one place that defines it. `docs/groups/groups.md` shows the same table,
/// and a test compares them.
public enum GroupPolicy {
    /// Returns whether a role allows an action.
    public static func may(_ role: GroupRole, _ action: GroupAction) -> Bool {
        switch action {
        case .seeMembers, .addMember: true
        case .seePhone(let addedByCaller), .revoke(let addedByCaller), .confirm(let addedByCaller):
            role != .member || addedByCaller
        // Nobody removes the owner, and the owner leaves by handing the group over.
        case .remove(.owner): false
        case .remove(.admin): role == .owner
        case .remove(.member), .rename, .manageLinks: role != .member
        case .changeOpenness, .changeRoles, .handOver, .delete: role == .owner
        }
    }

    /// Returns whether a member may add and confirm nobody: a plain member who is in the group only by a phone number that they haven't
    /// proven. Anybody may type a number. For an admin or the owner, the user who gave them the role vouches.
    ///
    /// - Parameter byUnprovenNumber: whether the member was linked by a number that they haven't proven, and nobody has confirmed them.
    public static func isUnproven(_ role: GroupRole?, byUnprovenNumber: Bool) -> Bool {
        role == .member && byUnprovenNumber
    }

    /// Throws if a role doesn't allow an action.
    ///
    /// - Throws: ``InvitesError/roleInsufficient``.
    public static func require(_ role: GroupRole, _ action: GroupAction) throws(InvitesError) {
        guard may(role, action) else { throw .roleInsufficient }
    }
}
