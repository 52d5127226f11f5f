/// What a member may want to do in a group. ``GroupPolicy`` says who may.
public enum GroupAction: Sendable, Hashable {
    /// See who is in it and who is awaited.
    case seeMembers
    /// See the phone number that a person was added by.
    case seePhone(addedByCaller: Bool)
    /// Add a person.
    case addMember
    /// Take back that a person is awaited.
    case revoke(addedByCaller: Bool)
    /// Say that a user is the person meant, or keep one who is in doubt.
    case confirm(addedByCaller: Bool)
    /// Put a member with this role out.
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
