import API
import IdentityDomain
import Models

extension IdentityV1.Session {
    /// The session as its owner sees it.
    ///
    /// - Parameter current: the session of the token that asks.
    init(_ session: ListedSession, current: SessionID) {
        self.init()
        sessionID = session.sessionID.description
        deviceName = session.deviceName ?? ""
        provider = session.provider
        createdAtMs = session.createdAtMilliseconds
        lastUsedAtMs = session.lastUsedAtMilliseconds
        isCurrent = session.sessionID == current
    }
}

extension IdentityV1.AccountChange {
    /// The change as those are notified who hand it on to its owner.
    init(_ change: AccountChange) {
        self.init()
        userID = change.userID.description
        kind = change.kind.rawValue
        provider = change.provider ?? ""
        occurredAtMs = change.occurredAtMilliseconds
        sessionID = change.sessionID?.description ?? ""
    }

    /// The change as its owner finds it in a list.
    init(_ listed: ListedAccountChange) {
        self.init(listed.change)
        userID = ""
        deviceName = listed.deviceName ?? ""
    }
}
