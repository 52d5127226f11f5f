/// What a worker calls, by whichever protocol. Each method makes one call, but where it says else.
protocol Target: Sendable {
    /// Whether profile is called by its own protocol, and so wants to be shown who the person is.
    var needsProofs: Bool { get }
    /// Whether the session of an account's access token is alive. Gives proof of the person, where ``needsProofs``.
    func checkSession(_ account: Account) async throws(CallFailure) -> ProfileProof?
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
    /// Proof of the person to profile; nil over a gateway, which keeps it to itself.
    let profileProof: ProfileProof?
}

/// Identity's proof of a person to profile, for a minute or so.
struct ProfileProof: Sendable {
    /// For how long it is used: it is good for thirty seconds at the least.
    private static let useNanoseconds: UInt64 = 20_000_000_000

    let text: String
    private let takenAtNanoseconds = MonotonicTime.nanoseconds

    /// Nil without a text: who calls is no gateway to identity, which gives none then.
    init?(_ text: String) {
        if text.isEmpty { return nil }
        self.text = text
    }

    /// Whether it is good for another call.
    var isFresh: Bool { MonotonicTime.nanoseconds - takenAtNanoseconds < Self.useNanoseconds }
}

/// What a provider hands to an app that signs in.
struct ProviderProof: Sendable {
    let idToken: String
    let nonce: String
    /// The provider's authorization code; nil where it isn't sent.
    let authorizationCode: String?
}

/// An account with its one session. One worker at a time calls with it.
struct Account: Sendable {
    /// Who signs in again when the session is over.
    let email: String
    private(set) var accessToken: String
    private(set) var refreshToken: String
    /// Proof of the person to profile; nil over a gateway.
    private(set) var profileProof: ProfileProof?
    /// Whether a refresh was sent whose answer did not come: the server may have moved on, and takes the same token
    /// once more.
    var awaitsLostAnswer = false
    /// Whether the session is over.
    var isSignedOut = false

    /// An account that has just signed in, or one whose tokens were told.
    init(email: String, tokens: SessionTokens) {
        self.email = email
        accessToken = tokens.accessToken
        refreshToken = tokens.refreshToken
        profileProof = tokens.profileProof
    }

    /// A check of the session gave this proof.
    mutating func take(_ proof: ProfileProof?) { profileProof = proof }

    /// The session goes on, or begins anew, with these.
    mutating func take(_ tokens: SessionTokens) {
        accessToken = tokens.accessToken
        refreshToken = tokens.refreshToken
        profileProof = tokens.profileProof
        awaitsLostAnswer = false
        isSignedOut = false
    }
}
