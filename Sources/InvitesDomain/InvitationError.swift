/// Why the invites service refuses what is about invitations, confirmations, links and blocks.
public enum InvitationError: Error, Sendable, Hashable {
    /// Nothing waits for the user by this id.
    case notFound
    /// The invitation isn't the user's to accept: somebody of the group confirms them.
    case confirmationNeeded
    /// The user whom a caller was shown isn't the person whom it is about now.
    case personChanged
    /// A group isn't handed to somebody who is a member by their number alone.
    case memberNotConfirmed
    /// The caller is a member by an unproven number alone, and adds and confirms nobody until somebody confirms them.
    case memberUnconfirmed
    /// Nobody decides about this person by confirming them.
    case nothingToConfirm
    /// A token is that of no link.
    case linkInvalid
    /// The link has expired, was revoked or is used up.
    case linkOver
    /// The link has let the user in before, once and for all.
    case linkUsed
    /// The group has as many good links as it may have.
    case tooManyLinks(linksMax: Int)
    /// The user blocks as many as a user may.
    case tooManyBlocked(blockedMax: Int)
    /// Nobody blocks themselves.
    case cannotBlockSelf
}
