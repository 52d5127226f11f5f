import RPC

/// The account and session of an access token. The session is alive as far as is known.
public struct VerifiedSession: Sendable, Hashable {
    /// The account's id, a UUID.
    public let userID: String
    /// The session's id, a UUID.
    public let sessionID: String
    /// When the token expires, in Unix seconds.
    public let expiresAtSeconds: Int64
    /// Whether the user is a guest: an account that no provider opens, and that is deleted when it goes unused.
    public let isGuest: Bool
    /// Whether identity was asked in this call; if not, the token and the stream of ended sessions were enough.
    public let wasAsked: Bool
}

/// Why a token is rejected.
public enum SessionRefusal: Error, Sendable {
    /// It is not an access token of the configured issuer for the configured audience, or it is bound to a key (`cnf`, RFC 9449) and so is no
    /// bearer token.
    case invalid
    /// It has expired: the app should refresh its session.
    case expired
    /// Its session has ended: the user must sign in again.
    case ended
    /// Unknown: identity had to be asked, or its keys fetched, and didn't answer. The caller may retry.
    case unavailable(RPCError)
}
