/// Why an account is closed.
public enum ClosingReason: String, Sendable, Hashable, CaseIterable {
    /// Its owner wanted it.
    case deleted
    /// An operator did it.
    case byOperator = "operator"
    /// Its provider said that the person's account there is gone.
    case providerNotice = "provider_notice"
    /// It was empty, and another account of the same person absorbed it.
    case absorbed
    /// It was a guest's, and was not used for long.
    case guestExpired = "guest_expired"
}
