/// What a worker calls, by whichever protocol. Each method makes one call, but where it says else.
protocol Target: Sendable {
    /// Whether the session of an account's access token is alive.
    func checkSession(_ account: Account) async throws(CallFailure)
    /// The next tokens of the session with this refresh token.
    func refresh(_ refreshToken: String) async throws(CallFailure) -> SessionTokens
    /// A session for a provider's token.
    func signIn(_ proof: ProviderProof) async throws(CallFailure) -> SessionTokens
    /// Reads the account's profile.
    func getProfile(_ account: Account) async throws(CallFailure)
    /// Changes the account's name, and its phone number if there is one.
    func updateProfile(_ account: Account, name: String, phone: String?) async throws(CallFailure)
}

/// What an app keeps of a session.
struct SessionTokens: Sendable {
    let accessToken: String
    let refreshToken: String
    let userID: String
}

/// What a provider hands to an app that signs in.
struct ProviderProof: Sendable {
    let idToken: String
    let nonce: String
}

/// An account with its one session. One worker at a time calls with it.
struct Account: Sendable {
    /// Who signs in again when the session is over.
    let email: String
    private(set) var accessToken: String
    private(set) var refreshToken: String
    private(set) var userID: String
    /// Whether a refresh was sent whose answer did not come: the server may have moved on, and takes the same token
    /// once more.
    var awaitsLostAnswer = false
    /// Whether the session is over.
    var isSignedOut = false

    /// An account that has just signed in.
    init(email: String, tokens: SessionTokens) {
        self.email = email
        accessToken = tokens.accessToken
        refreshToken = tokens.refreshToken
        userID = tokens.userID
    }

    /// The session goes on, or begins anew, with these.
    mutating func take(_ tokens: SessionTokens) {
        accessToken = tokens.accessToken
        refreshToken = tokens.refreshToken
        userID = tokens.userID
        awaitsLostAnswer = false
        isSignedOut = false
    }
}
