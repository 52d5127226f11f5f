import API
import Models
import Postgres

extension OperatorV1.OperatorAccount {
    /// The account as operators see it, without profile's data.
    init(_ account: StoredAccount, _ standing: AccountStanding) {
        self.init()
        userID = account.userID.description
        accountNumber = account.number
        createdAtMs = account.createdAtMilliseconds
        if let stored = standing.block {
            block.sinceMs = stored.sinceMilliseconds
            block.reason = stored.reason
        }
        identities = account.identities.map { OperatorV1.OperatorIdentity($0) }
        liveSessions = standing.liveSessions
    }
}

extension OperatorV1.OperatorIdentity {
    /// The identity as operators see it: a relay address is for its user only.
    init(_ identity: StoredIdentity) {
        self.init()
        provider = identity.provider
        subject = identity.subject
        email = identity.isRelay ? "" : identity.email ?? ""
        emailVerified = identity.isEmailVerified
        isPrivateEmail = identity.isRelay
        createdAtMs = identity.createdAtMilliseconds
        lastSignInAtMs = identity.lastSignInAtMilliseconds
        disabled = identity.isDisabled
    }
}

extension OperatorV1.OperatorProfile {
    /// The profile as operators see it.
    init(_ profile: ProfileV1.Profile) {
        self.init()
        displayName = profile.displayName
        username = profile.username
        phoneNumber = profile.phoneNumber
    }
}

extension OperatorV1.SecurityEvent {
    /// The event as operators see it.
    init(_ event: StoredSecurityEvent) {
        self.init()
        eventID = event.eventID.description
        kind = event.kind
        occurredAtMs = event.occurredAtMilliseconds
        sessionID = event.sessionID?.description ?? ""
        detailsJson = event.details
    }
}

extension OperatorV1.ListedAccount {
    /// The account as a list has it.
    init(_ account: ListedAccount) {
        self.init()
        userID = account.userID.description
        accountNumber = account.number
        createdAtMs = account.createdAt.milliseconds
        if let stored = account.block {
            block.sinceMs = stored.sinceMilliseconds
            block.reason = stored.reason
        }
        isImported = account.isImported
        isGuest = account.isGuest
        providers = account.providers
    }
}

extension OperatorV1.OperatorSession {
    /// The session as operators see it.
    init(_ session: OperatorSession) {
        self.init()
        sessionID = session.sessionID.description
        provider = session.provider
        clientID = session.clientID
        deviceName = session.deviceName ?? ""
        proof = session.proof
        createdAtMs = session.createdAtMilliseconds
        lastUsedAtMs = session.lastUsedAtMilliseconds
        expiresAtMs = session.expiresAtMilliseconds
        isLive = session.isLive
        endReason = session.endReason ?? ""
    }
}

extension OperatorV1.OperatorGroup {
    /// The group as operators see it.
    init(_ group: AppV1.Group) {
        self.init()
        groupID = group.groupID
        name = group.name
        role =
            switch group.role {
            case .owner: "owner"
            case .admin: "admin"
            case .member: "member"
            case .unspecified, .UNRECOGNIZED: ""
            }
        createdAtMs = group.createdAt.milliseconds
    }
}
