/// When an operator proved to the provider who they are, and how that is known.
struct SignInProof: Sendable, Hashable {
    /// By what the time is known.
    enum Basis: Sendable, Hashable {
        /// `auth_time` of the ID token: the provider says so.
        case authTime
        /// The console's request, for a provider that doesn't say: it was asked then to have the person prove it anew.
        case request
    }

    let at: ConsoleTime
    let basis: Basis
}
