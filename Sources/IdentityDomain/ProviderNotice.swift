/// The providers that send notices about their users, each in a format of its own.
public enum NoticeSender: String, Sendable, Hashable, CaseIterable {
    /// Apple's server-to-server notifications.
    case apple = "apple"
    /// Google's security event tokens: Cross-Account Protection, by RISC.
    case google = "google"

    /// The sender of a provider's name; nil for one that tells nothing.
    public init?(_ name: ProviderName) { self.init(rawValue: name.value) }

    /// The provider's name.
    public var name: ProviderName {
        switch self {
        case .apple: .apple
        case .google: .google
        }
    }
}

/// What a provider told in one message.
public struct ProviderNotice: Sendable, Hashable {
    /// The most events of one message; a provider sends one.
    public static let eventsMax = 8
    /// The longest `jti`, in bytes.
    public static let identifierBytesMax = 255
    /// How long after it was issued a message is accepted, in seconds.
    public static let ageSecondsMax: Int64 = 30 * 86_400
    /// How long a message is remembered by its `jti`, in seconds: one that is forgotten is too old to come again.
    public static let rememberedSeconds: Int64 = 60 * 86_400

    /// Its `jti`: what comes again has the same.
    public let identifier: String
    /// What happened; one or more.
    public let events: [NoticeEvent]

    /// A message.
    public init(identifier: String, events: [NoticeEvent]) {
        self.identifier = identifier
        self.events = events
    }
}

/// One thing that happened at a provider.
public struct NoticeEvent: Sendable, Hashable {
    /// What.
    public let kind: NoticeKind
    /// Why an account was disabled; nil if nothing was said that we know.
    public let reason: DisablingReason?
    /// To whom; nil where the event names nobody.
    public let subject: String?
    /// When, in Unix milliseconds.
    public let atMilliseconds: Int64

    /// An event.
    public init(kind: NoticeKind, reason: DisablingReason? = nil, subject: String?, atMilliseconds: Int64) {
        self.kind = kind
        self.reason = reason
        self.subject = subject
        self.atMilliseconds = atMilliseconds
    }

    /// What is done about it: what the provider documents.
    public var effect: NoticeEffect {
        switch kind {
        case .consentRevoked, .accountDeleted, .sessionsRevoked, .tokensRevoked: .endSessions
        case .accountDisabled: .disable(endsSessions: reason == .hijacking)
        case .accountEnabled: .enable
        case .emailDisabled: .email(isReachable: false)
        case .emailEnabled: .email(isReachable: true)
        case .credentialChangeRequired: .record
        case .tokenRevoked, .verification, .other: .log
        }
    }
}

/// Provider notifications.
public enum NoticeKind: String, Sendable, Hashable, CaseIterable {
    /// Apple: the person stopped using their Apple Account with the app. It counts as their sign-out.
    case consentRevoked = "consent_revoked"
    /// Apple: the person deleted their Apple Account.
    case accountDeleted = "account_deleted"
    /// Apple: mail to the relay address is not forwarded any more.
    case emailDisabled = "email_disabled"
    /// Apple: mail to the relay address is forwarded again.
    case emailEnabled = "email_enabled"
    /// Google: the person's sessions must end.
    case sessionsRevoked = "sessions_revoked"
    /// Google: what the person granted was revoked, and with it their sessions.
    case tokensRevoked = "tokens_revoked"
    /// Google: one refresh token was revoked. It names no person.
    case tokenRevoked = "token_revoked"
    /// Google: the account was disabled.
    case accountDisabled = "account_disabled"
    /// Google: the account is good again.
    case accountEnabled = "account_enabled"
    /// Google: the person has to change their password, after something suspicious.
    case credentialChangeRequired = "credential_change_required"
    /// Google: a test of the stream, which names nobody.
    case verification = "verification"
    /// Something that we don't know.
    case other = "other"

    /// Whether an event of this kind must name somebody.
    var namesPerson: Bool {
        switch self {
        case .tokenRevoked, .verification, .other: false
        case .consentRevoked, .accountDeleted, .emailDisabled, .emailEnabled, .sessionsRevoked, .tokensRevoked,
            .accountDisabled, .accountEnabled, .credentialChangeRequired:
            true
        }
    }
}

/// Why Google disabled an account.
public enum DisablingReason: String, Sendable, Hashable, CaseIterable {
    /// Somebody else got into it.
    case hijacking = "hijacking"
    /// It was made by a program, with many others.
    case bulkAccount = "bulk_account"
}

/// What is done about an event.
public enum NoticeEffect: Sendable, Hashable {
    /// The person's sessions by this provider end, and the provider's tokens from before open none.
    case endSessions
    /// The provider signs the person in no more, until it says otherwise.
    case disable(endsSessions: Bool)
    /// The provider signs the person in again.
    case enable
    /// Whether mail to the relay address arrives.
    case email(isReachable: Bool)
    /// It stands in the audit log and changes nothing.
    case record
    /// It names nobody: it is counted and logged.
    case log
}

/// Why a provider's message was refused: one case for each reason on the wire.
public enum NoticeRejection: Error, Sendable, Hashable, CaseIterable {
    /// No JWS, or none of the provider's form.
    case malformed
    /// The provider has no key of its `kid`.
    case keyUnknown
    /// Not signed, signed by an algorithm that the provider doesn't use, or by somebody else.
    case signature
    /// `iss` is not the provider's.
    case issuer
    /// `aud` names none of our apps.
    case audience
    /// Past its `exp`, or issued too long ago.
    case expired
    /// Issued in the future.
    case early
}
