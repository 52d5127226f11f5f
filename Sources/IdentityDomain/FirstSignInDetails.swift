import JOSE

/// Name and e-mail that came with credentials which can't sign in at the moment. They are kept, unseen, until the person's
/// credentials prove themselves: Apple tells a name once.
public struct FirstSignInDetails: Sendable, Hashable {
    /// Whom a token names, and from which app and device it came. What is kept is used for a sign-in with the same three.
    public struct Person: Sendable, Hashable {
        /// The provider's name for the person.
        public let subject: String
        /// The app.
        public let clientID: String
        /// The device as its app calls it; nil if the app named none.
        public let deviceName: String?

        /// A person; a device name that can't be shown counts as none.
        public init(subject: String, clientID: String, deviceName: String) {
            self.subject = subject
            self.clientID = clientID
            self.deviceName = DeviceName.accept(deviceName)
        }
    }

    /// For how long they are kept: as long as Apple's tokens live.
    public static let keptSeconds: Int64 = 86_400
    /// The most that are kept in all, but for those that calls bring at the same moment.
    public static let countMax = 10_000
    /// The most that are kept of one client's address, but for the same.
    public static let perAddressMax = 20
    /// The most of one person that are looked at, the oldest first.
    public static let perPersonMax = 20
    /// The longest token that is kept to be verified later, in bytes. What comes with a longer one is used for the same token only.
    public static let tokenBytesMax = 4096

    /// By what they are found: the ID token's fingerprint, or ``key(ofCode:clientID:provider:)``.
    public let key: [UInt8]
    /// The provider.
    public let provider: ProviderName
    /// The name; at most what a display name may be.
    public let fullName: String?
    /// The e-mail; at most ``EmailAddress/bytesMax`` bytes.
    public let email: String?
    /// Whom the token names that came along; nil for a code alone, which names nobody.
    public let person: Person?
    /// The token, if it couldn't be verified yet, so that nothing of ``person`` may be believed; nil if it was. A secret.
    public let unverifiedToken: String?

    /// The details to store; nil if there is no valid name or e-mail.
    public init?(
        key: [UInt8],
        provider: ProviderName,
        fullName: String,
        email: String,
        person: Person? = nil,
        unverifiedToken: String? = nil
    ) {
        self.key = key
        self.provider = provider
        self.fullName = ProviderGivenName.accept(fullName)
        self.email = EmailAddress.accept(email)
        let isTooLong = unverifiedToken.map { $0.utf8.count > Self.tokenBytesMax } ?? false
        self.person = isTooLong ? nil : person
        self.unverifiedToken = isTooLong ? nil : unverifiedToken
        if self.fullName == nil, self.email == nil { return nil }
    }

    /// The key of what came with a code alone: a hash, so that the table holds no code.
    public static func key(ofCode code: String, clientID: String, provider: ProviderName) -> [UInt8] {
        SHA256.hash("vestibule told once 1\0\(provider)\0\(clientID)\0\(code)")
    }
}

/// Seals the tokens of ``FirstSignInDetails`` that couldn't be verified yet, each for its row, under keys derived from the refresh keys: the
/// first seals, all open.
public struct FirstSignInDetailsSeal: Sendable {
    private static let label = "vestibule told once token 1"

    private let keys: [[UInt8]]

    /// A seal under keys that are derived from the refresh keys.
    public init(_ refreshKeys: RefreshKeys) { keys = refreshKeys.derived(Self.label) }

    /// Seals a token for the row of this key.
    public func seal(_ token: String, key: [UInt8]) -> [UInt8] {
        Seal.seal(Array(token.utf8), secret: keys[0], label: Self.label, associatedData: key)
    }

    /// Returns the token that was sealed for the row of this key; nil if none of our keys opens it.
    public func open(_ sealed: [UInt8], key: [UInt8]) -> String? {
        for secret in keys {
            if let token = Seal.open(sealed, secret: secret, label: Self.label, associatedData: key) {
                return String(decoding: token, as: UTF8.self)
            }
        }
        return nil
    }
}
