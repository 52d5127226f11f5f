/// An event of the audit log: a change of who can sign in to an account. Successful refreshes and checks, which happen all the time, are not
/// logged. The rows hold ids, words of ours and of the configuration, and counts: never a secret, and nothing that a user typed or a
/// provider sent.
public enum SecurityEvent: String, Sendable, Hashable, CaseIterable {
    /// A sign-in opened a session. Logged with the provider, the app, the proof, and whether it opened the account.
    case signedIn = "signed_in"
    /// A session was ended. Told with the ``SessionEnd``.
    case sessionEnded = "session_ended"
    /// Two hold tokens of a session, which was ended.
    case reuseDetected = "reuse_detected"
    /// Sessions of an account were ended together. Told with their count, and by whom.
    case sessionsEndedEverywhere = "sessions_ended_everywhere"
    /// A session was given another name. Told without it.
    case sessionRenamed = "session_renamed"
    /// An operator ended the sessions of everybody that were begun before a time. Told with that time and their count.
    case allSessionsEnded = "all_sessions_ended"
    /// An account was deleted, by its owner or an operator. Told with by whom.
    case accountDeleted = "account_deleted"
    /// The deletion of an account was scheduled. Told with its time; the session is the one that asked.
    case deletionScheduled = "deletion_scheduled"
    /// The scheduled deletion of an account was cancelled. The session is the one that asked.
    case deletionCancelled = "deletion_cancelled"
    /// An account was closed for another reason. Told with it.
    case accountClosed = "account_closed"
    /// What is known of an account was handed out by an operator.
    case accountExported = "account_exported"
    /// A provider's token for an account that was closed, or that unlinked the provider, was revoked. Logged with the provider and the app,
    /// and whether it was given up after thirty days of failed tries.
    case providerTokenRevoked = "provider_token_revoked"
    /// A provider told something of the person's account there. Told with the provider, what it was, and how many sessions ended
    /// by it.
    case providerNotice = "provider_notice"
    /// A provider was linked to an account. Told with it, the app and the proof; the session is the one that asked.
    case providerLinked = "provider_linked"
    /// A provider was unlinked from an account. Told with it; the session is the one that asked.
    case providerUnlinked = "provider_unlinked"
    /// An operator blocked an account. Told with the reason, the operator, and how many sessions ended.
    case accountBlocked = "account_blocked"
    /// An operator unblocked it. Told with the operator.
    case accountUnblocked = "account_unblocked"
    /// An operator took the account's phone number from it. Told with the operator.
    case phoneReleased = "phone_released"
    /// An operator looked for an account, or at its audit log; about nobody if none was found. Told with the operator, and by what
    /// the account was looked for.
    case accountFound = "account_found"
    /// A phone number was proven to be the account's. Told with by what, never with the number.
    case phoneProven = "phone_proven"
    /// Somebody else has proven the account's phone number, and has it now. Told with by what.
    case phoneTaken = "phone_taken"
    /// A phone number was proven that another account has proven too, and keeps. Told with by what.
    case phoneConflict = "phone_conflict"
    /// It was begun to open an imported account that nobody could sign in to. Told with by what, the operator, and the account that is
    /// to be absorbed; by an operator also if nothing comes of it.
    case accountOpening = "account_opening"
    /// An imported account that nobody could sign in to was opened. Told with by what, the operator, the account that it absorbed, and
    /// the providers that came with it.
    case accountOpened = "account_opened"
    /// Recovery codes of an account were made. The session is the one that asked.
    case recoveryCodesCreated = "recovery_codes_created"
    /// A recovery code was used up to add a passkey. Told with the passkey's id, and how many codes are left.
    case recoveryCodeUsed = "recovery_code_used"
    /// A guest's account was merged into the account. Told with its id.
    case guestMerged = "guest_merged"
}

extension SecurityEvent {
    /// The changes of an account of which its owner is notified in their other sessions: each adds, removes or ends a way into it.
    public static let accountChanges: [SecurityEvent] = [
        .providerLinked, .providerUnlinked, .deletionScheduled, .deletionCancelled, .recoveryCodesCreated,
        .recoveryCodeUsed,
    ]
}

/// Why a session was ended, as its row says.
public enum SessionEnd: String, Sendable, Hashable, CaseIterable {
    /// Its owner signed out, here or everywhere.
    case signOut = "sign_out"
    /// Two held tokens of it.
    case reuse = "reuse"
    /// It was dated after the end of all sessions by a clock that was ahead.
    case endAll = "end_all"
    /// It was opened without proof, and then somebody proved who they are.
    case proven = "proven"
    /// Its owner ended it from the list of sessions; or no client got it, since its account was being absorbed by another.
    case ended = "ended"
    /// Its account had too many, and it was the one used longest ago.
    case tooMany = "too_many"
    /// An operator ended the sessions of its account.
    case byOperator = "operator"
    /// Its account was deleted.
    case accountDeleted = "account_deleted"
    /// The provider that it was opened by told that it must not go on.
    case byProvider = "provider"
    /// The provider that it was opened by was unlinked from its account.
    case unlinked = "unlinked"
}
