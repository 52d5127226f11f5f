/// Who may do what in a group: the one place that says it. The page "Groups" of the service shows the same table, and a test
/// compares them.
public enum GroupPolicy {
    /// Whether a member with a role may do something.
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

    /// Returns whether a member adds and confirms nobody: one who is in the group by a phone number alone, which they haven't proven. Anybody
    /// may type a number. Admins and the owner are vouched for by whoever made them so.
    ///
    /// - Parameter byUnprovenNumber: whether the member was linked by a number that isn't proven to be theirs, and nobody has confirmed them.
    public static func isUnproven(_ role: GroupRole?, byUnprovenNumber: Bool) -> Bool {
        role == .member && byUnprovenNumber
    }

    /// Refuses what a role may not do.
    ///
    /// - Throws: ``InvitesError/roleInsufficient``.
    public static func require(_ role: GroupRole, _ action: GroupAction) throws(InvitesError) {
        guard may(role, action) else { throw .roleInsufficient }
    }
}
