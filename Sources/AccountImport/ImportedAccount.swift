import Models

/// An account as its former backend had it, read and not judged yet.
public struct ImportedAccount: Sendable, Hashable {
    /// What its former backend called it.
    public var oldID: String
    /// What it is called here.
    public var userID: UserID
    /// When it was made, in Unix milliseconds; nil where nobody says.
    public var createdAtMilliseconds: Int64?
    /// What it calls its person; the first that can be a name here is taken.
    public var names: [String]
    /// Its username, where there is such a thing.
    public var username: String?
    /// The number that its former backend had proven, as written there.
    public var phone: String?
    /// By what providers its person is known.
    public var identities: [ImportedIdentity]
    /// By what else its person came in, which is nothing here: `password`, `email`, ….
    public var otherWays: [String]
    /// Whether its former backend kept its person out.
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

    /// Whether its id was made of the old one, which is to be found again by it.
    public var hasNewID: Bool { UserID(oldID) != userID }
}

/// By what a provider knows a person.
public struct ImportedIdentity: Sendable, Hashable {
    /// What the former backend calls the provider.
    public var provider: String
    /// What the provider calls the person.
    public var subject: String
    /// The e-mail that it told.
    public var email: String?
    /// Whether it told that it is verified.
    public var isEmailVerified: Bool
    /// The name that it told.
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
