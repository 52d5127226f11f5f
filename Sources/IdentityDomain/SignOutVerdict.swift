/// What the database decided about a sign-out of more than the token's own session.
public enum SignOutVerdict: String, Sendable, Hashable, CaseIterable {
    /// The token names a live session: what was asked is done.
    case done
    /// Its session was signed out and no other of the account is alive: what was asked was done before.
    case repeated
    /// The refresh token is older than the one before the current one: a copy.
    case superseded
    /// The session had been ended.
    case revoked
    /// The session had reached a limit.
    case expired
    /// The session is without proof, and may only end itself.
    case unproven
    /// The session's row has another nonce or user.
    case mismatched

    /// The refusal that it means; nil for none.
    public var fault: IdentityError? {
        switch self {
        case .done, .repeated: nil
        case .superseded: .refreshTokenInvalid
        case .revoked: .sessionRevoked
        case .expired: .sessionExpired
        case .unproven: .sessionUnproven
        case .mismatched: .sessionInvalid
        }
    }
}
