import Models

/// Why the invites service refuses a request.
public enum InvitesError: Error, Sendable, Hashable {
    /// Invalid fields; at least one.
    case invalidFields([FieldError])
    /// The group's id is invalid, so there can't be such a group.
    case groupNotFound
    /// The user isn't in the group, or there is no such group: an outsider can't tell the two apart.
    case notAMember
    /// The group has as many members, pending ones included, as it may have.
    case groupFull(membersMax: Int)
    /// The user, or all users of their address, did this too often, and may retry after this time.
    case tooManyAttempts(retryAfterMilliseconds: Int64)
    /// The user has made as many groups as allowed.
    case tooManyGroups(groupsMax: Int)
    /// A person is a member of as many groups as allowed, or as many groups await their number.
    case memberGroupsFull(groupsMax: Int)
    /// The user waits for as many people as allowed, in all groups together.
    case tooManyPending(pendingMax: Int)
    /// The user's role in the group doesn't allow it.
    case roleInsufficient
    /// The owner can't leave while others are members: the group must be handed over first.
    case ownerMustHandOver
    /// There is no such member in the group.
    case memberNotFound
    /// The request names a role that can't be assigned.
    case roleInvalid
    /// The request names an unknown openness.
    case opennessInvalid
    /// There are no people to add, or more than a request may have.
    case peopleCountInvalid(peopleMax: Int)
    /// The page token isn't one that this method made for this account, and in this group where it is a group's.
    case cursorInvalid
    /// The page size is negative.
    case pageSizeInvalid
    /// The idempotency key isn't a UUID.
    case idempotencyKeyInvalid
    /// The idempotency key was used for another request before.
    case idempotencyKeyReused
    /// An event can't be read; nothing of the request was applied.
    case eventInvalid(index: Int)
    /// There are more events than a request may have; nothing was applied.
    case tooManyEvents(eventsMax: Int)
    /// The request's user id isn't a UUID.
    case userIDInvalid
    /// The request's absorption id isn't a UUID.
    case absorptionIDInvalid
    /// The user can't be changed now: another account may absorb theirs.
    case accountHeld
    /// The user's account was closed.
    case accountClosed
    /// The invitation, confirmation, link or block is refused.
    case invitation(InvitationError)
    /// A number couldn't be judged, because the library that reads numbers failed.
    case phoneUnreadable
}

/// Why one field is refused.
public enum FieldError: Sendable, Hashable {
    /// The group's name breaks its rules.
    case groupName(TextError)
    /// The person's name breaks its rules; the field is the request's name for it.
    case displayName(TextError, field: String)
    /// The phone number is invalid, or not accepted here.
    case phone(PhoneNumber.Fault)
    /// The lifetime of a link is out of range.
    case linkLifetime
    /// The number of users of a link is out of range.
    case linkUses

    /// The field's name in the request.
    public var field: String {
        switch self {
        case .groupName: "name"
        case .displayName(_, let field): field
        case .phone: "phone_number"
        case .linkLifetime: "lifetime_seconds"
        case .linkUses: "uses_max"
        }
    }
}
