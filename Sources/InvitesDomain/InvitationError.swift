/// Why the invites service refuses a request about invitations, confirmations, links or blocks.
public enum InvitationError: Error, Sendable, Hashable {
    /// Nothing waits for the user by this id.
    case notFound
    /// The user can't accept the invitation: a member of the group confirms them.
    case confirmationNeeded
    /// The id doesn't belong any more to the user whom the caller was shown.
    case personChanged
    /// A group can't be handed to a user who is a member by their number alone.
    case memberNotConfirmed
    /// The caller is a member by an unproven number alone, and can't add or confirm anybody until another member confirms them.
    case memberUnconfirmed
    /// This person doesn't need to be confirmed.
    case nothingToConfirm
    /// No link has this token.
    case linkInvalid
    /// The link has expired, was revoked or is used up.
    case linkOver
    /// The user has joined by this link before. A link lets each user in once.
    case linkUsed
    /// The group has as many good links as it may have.
    case tooManyLinks(linksMax: Int)
    /// The user blocks as many users as allowed.
    case tooManyBlocked(blockedMax: Int)
    /// A user can't block themselves.
    case cannotBlockSelf
}
