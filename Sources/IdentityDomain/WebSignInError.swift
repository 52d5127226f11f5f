/// Why a sign-in in a browser can't begin or end.
public enum WebSignInError: Error, Sendable, Hashable, CaseIterable {
    /// The state is none of ours, over, or another browser's; or there is none, for a client that needs one.
    case stateInvalid
    /// The code challenge is none (RFC 7636 section 4.2).
    case challengeInvalid
    /// The provider has no authorization page.
    case notConfigured
    /// So many tickets are out, in all or to one address, that no more are made.
    case tooManyTickets
}
