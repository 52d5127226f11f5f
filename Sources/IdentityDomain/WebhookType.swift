/// The type of a webhook's event.
public enum WebhookType: String, Sendable, Hashable, CaseIterable {
    /// Somebody signed in for the first time.
    case accountCreated = "account.created"
    /// A session ended before its time.
    case sessionEnded = "session.ended"
    /// An account was deleted, or closed for another reason.
    case accountDeleted = "account.deleted"
    /// The deletion of an account was scheduled.
    case deletionScheduled = "account.deletion_scheduled"
    /// The scheduled deletion of an account was cancelled.
    case deletionCancelled = "account.deletion_cancelled"
    /// A provider opens an account from now on.
    case providerLinked = "provider.linked"
    /// A provider was unlinked from an account.
    case providerUnlinked = "provider.unlinked"
    /// A profile has all fields that the app requires, as the profile service tells.
    case profileCompleted = "profile.completed"
    /// A phone number is another one, or there is none any more, as the profile service tells.
    case phoneChanged = "phone.changed"
    /// Somebody landed in a group, as the invites service tells.
    case groupJoined = "group.joined"
}
