/// The target of a worker's calls, over one of the protocols. Each method makes one call unless noted.
protocol Target: Sendable {
    /// Whether profile is called directly, and so requires proofs of the user.
    var needsProofs: Bool { get }
    /// Checks the session of an account's access token. Returns a proof of the user if ``needsProofs``.
    func checkSession(_ account: Account) async throws(CallFailure) -> ProfileProof?
    /// Refreshes the session with this refresh token.
    func refresh(_ refreshToken: String) async throws(CallFailure) -> SessionTokens
    /// Signs in with a provider's token.
    func signIn(_ proof: ProviderProof) async throws(CallFailure) -> SessionTokens
    /// Reads the account's profile.
    func getProfile(_ account: Account) async throws(CallFailure)
    /// Changes the account's name, and its phone number if there is one.
    func updateProfile(_ account: Account, name: String, phone: String?) async throws(CallFailure)
}

/// The tokens that an app keeps of a session.
struct SessionTokens: Sendable {
    let accessToken: String
    let refreshToken: String
    /// The proof of the user for profile; nil over a gateway, which doesn't return it.
    let profileProof: ProfileProof?
}

/// Identity's proof of a user for profile, valid for about a minute.
struct ProfileProof: Sendable {
    /// How long it is used: it is valid for at least thirty seconds.
    private static let useNanoseconds: UInt64 = 20_000_000_000

    let text: String
    private let takenAtNanoseconds = MonotonicTime.nanoseconds

    /// Nil if the text is empty: identity sends no proof to a caller that isn't a gateway.
    init?(_ text: String) {
        if text.isEmpty { return nil }
        self.text = text
    }

    /// Whether it is valid for another call.
    var isFresh: Bool { MonotonicTime.nanoseconds - takenAtNanoseconds < Self.useNanoseconds }
}

/// The credentials that a provider returns to an app at a sign-in.
struct ProviderProof: Sendable {
    let idToken: String
    let nonce: String
    /// The provider's authorization code; nil if it isn't sent.
    let authorizationCode: String?
}

/// An account with its one session. One worker at a time uses it.
struct Account: Sendable {
    /// The user that signs in again when the session has ended.
    let email: String
    private(set) var accessToken: String
    private(set) var refreshToken: String
    /// The proof of the user for profile; nil over a gateway.
    private(set) var profileProof: ProfileProof?
    /// Whether the response to a refresh was lost: the server may have rotated the token, and accepts the old one once
    /// more.
    var awaitsLostAnswer = false
    /// Whether the session has ended.
    var isSignedOut = false

    /// An account that has just signed in, or whose tokens were given.
    init(email: String, tokens: SessionTokens) {
        self.email = email
        accessToken = tokens.accessToken
        refreshToken = tokens.refreshToken
        profileProof = tokens.profileProof
    }

    /// Stores the proof that a check of the session returned.
    mutating func take(_ proof: ProfileProof?) { profileProof = proof }

    /// Stores the tokens of the refreshed or new session.
    mutating func take(_ tokens: SessionTokens) {
        accessToken = tokens.accessToken
        refreshToken = tokens.refreshToken
        profileProof = tokens.profileProof
        awaitsLostAnswer = false
        isSignedOut = false
    }
}
