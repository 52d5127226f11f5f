import API
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
