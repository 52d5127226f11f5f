import Models

/// An account of another backend, not checked yet.
public struct ImportedAccount: Sendable, Hashable {
    /// Its id at its former backend.
    public var oldID: String
    /// Its id here.
    public var userID: UserID
    /// When it was created, in Unix milliseconds; nil if unknown.
    public var createdAtMilliseconds: Int64?
    /// Names of the user; the first one that is a valid display name is used.
    public var names: [String]
    /// Its username, if there is one.
    public var username: String?
    /// The number that its former backend had proven, as written there.
    public var phone: String?
    /// The user's identities at providers.
    public var identities: [ImportedIdentity]
    /// The user's other ways to sign in, which don't work here: `password`, `email`, ….
    public var otherWays: [String]
    /// Whether its former backend had blocked the user.
    public var isBlocked: Bool
    /// Whether its former backend had deleted it and kept the row.
    public var isDeleted: Bool

    /// An account.
    public init(oldID: String, userID: UserID) {
        self.oldID = oldID
        self.userID = userID
        names = []
        identities = []
        otherWays = []
        isBlocked = false
        isDeleted = false
    }

    /// Whether its id was derived from the old one, which must be stored to find the account by it.
    public var hasNewID: Bool { UserID(oldID) != userID }
}

/// A user's identity at a provider.
public struct ImportedIdentity: Sendable, Hashable {
    /// The former backend's name of the provider.
    public var provider: String
    /// The user's subject at the provider.
    public var subject: String
    /// The e-mail address from the provider.
    public var email: String?
    /// Whether the e-mail address is verified.
    public var isEmailVerified: Bool
    /// The name from the provider.
    public var name: String?
    /// When it was first used, in Unix milliseconds.
    public var createdAtMilliseconds: Int64?
    /// When it was last used, in Unix milliseconds.
    public var lastSignInAtMilliseconds: Int64?

    /// An identity.
    public init(provider: String, subject: String) {
        self.provider = provider
        self.subject = subject
        isEmailVerified = false
    }
}
