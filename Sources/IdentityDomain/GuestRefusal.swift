/// Why what has to do with guests is refused.
public enum GuestRefusal: Error, Sendable, Hashable {
    /// Guest accounts are off.
    case notEnabled
    /// A guest may not do this.
    case notAllowed
    /// A proof of work is required.
    case workRequired
    /// The proof of work answers no challenge of ours, or not with enough work.
    case workInvalid
    /// Its challenge has expired.
    case workExpired
    /// Its challenge was used before.
    case workSpent
    /// There were too many new guests, from one address or in all.
    case tooMany(retryAfterMilliseconds: Int64, inAll: Bool)
    /// The request doesn't say what becomes of the guest account.
    case outcomeMissing
    /// The token is no live token of a guest.
    case tokenInvalid
}
