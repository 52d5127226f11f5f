/// What the database decided about a refresh token that was presented. A session's tokens are numbered as they are issued; one
/// counts as received, *acknowledged*, once something of its number is presented. The newest acknowledged one is the base.
public enum RefreshVerdict: String, Sendable, Hashable, CaseIterable {
    /// It was issued after the base, or is the base with nothing issued since: it is the base now and has a successor.
    case rotated
    /// It is newer than any that the row knows of, so the database is an older copy: the row moved on to it.
    case ahead
    /// It is the base, and a successor that nobody has used yet was issued within the grace: that one again.
    case repeated
    /// It is the base, and the successors that were issued are unused and older than the grace: another one beside them.
    case sibling
    /// It was replaced by the base within the grace: the base's tokens again.
    case joined
    /// It was replaced before, but came in before that: a copy of a call that was answered elsewhere. It gets nothing, and the
    /// session stays.
    case late
    /// It was replaced before the grace: two hold tokens of one session, and the session is ended.
    case reused
    /// The session had been ended.
    case revoked
    /// The session had reached a limit.
    case expired
    /// There is no such session, or its row has another nonce.
    case mismatched
    /// The session is bound to a key, and the client has not proven that it has it: a copy of the token, most likely.
    case keyNotProven = "key_not_proven"

    /// The refusal that it means, or nil if tokens are to be handed out.
    public var fault: IdentityError? {
        switch self {
        case .rotated, .ahead, .repeated, .sibling, .joined: nil
        case .late: .refreshTokenInvalid
        case .reused: .refreshTokenReused
        case .revoked: .sessionRevoked
        case .expired: .sessionExpired
        case .mismatched: .sessionInvalid
        case .keyNotProven: .keyNotProven
        }
    }
}
