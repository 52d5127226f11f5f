/// An action of a member in a group. ``GroupPolicy`` decides which roles may do it.
public enum GroupAction: Sendable, Hashable {
    /// See who is in it and who is awaited.
    case seeMembers
    /// See the phone number that a person was added by.
    case seePhone(addedByCaller: Bool)
    /// Add a person.
    case addMember
    /// Revoke a pending invitation.
    case revoke(addedByCaller: Bool)
    /// Confirm that a user is the person meant, or keep a member in doubt.
    case confirm(addedByCaller: Bool)
    /// Remove a member with this role.
    case remove(GroupRole)
    /// Give the group another name.
    case rename
    /// Make, list and revoke links by which people join.
    case manageLinks
    /// Say how open the group is.
    case changeOpenness
    /// Make members admins, and admins members.
    case changeRoles
    /// Make another member the owner.
    case handOver
    /// Delete the group.
    case delete
}
