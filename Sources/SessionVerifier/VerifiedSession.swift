import RPC

/// Whose an access token is, and of which session, which is alive as far as is known.
public struct VerifiedSession: Sendable, Hashable {
    /// The account's id, a UUID.
    public let userID: String
    /// The session's id, a UUID.
    public let sessionID: String
    /// When the token expires, in Unix seconds.
    public let expiresAtSeconds: Int64
    /// Whether identity was asked in this call; if not, the token and the stream of ended sessions were enough.
    public let wasAsked: Bool
}

/// Why a token lets nobody in.
public enum SessionRefusal: Error, Sendable {
    /// It is no access token of the configured issuer for the configured audience.
    case invalid
    /// Its time is over: the app refreshes its session.
    case expired
    /// Its session has ended: the person signs in again.
    case ended
    /// It can't be told: identity had to be asked, or its keys fetched, and didn't answer. The caller may try again.
    case unavailable(RPCError)
}
