import API
import IdentityDomain
import Models

extension IdentityV1.Session {
    /// The session as its owner sees it.
    ///
    /// - Parameter current: the session of the caller's token.
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
    /// The change as sent to watchers, which pass it on to the user.
    init(_ change: AccountChange) {
        self.init()
        userID = change.userID.description
        kind = change.kind.rawValue
        provider = change.provider ?? ""
        occurredAtMs = change.occurredAtMilliseconds
        sessionID = change.sessionID?.description ?? ""
    }

    /// The change as the user sees it in a list.
    init(_ listed: ListedAccountChange) {
        self.init(listed.change)
        userID = ""
        deviceName = listed.deviceName ?? ""
    }
}
