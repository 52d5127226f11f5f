import JOSE

/// Name and e-mail that came with credentials which can't be verified at the moment. They are kept, unseen, until the same
/// credentials prove themselves: Apple tells a name once.
public struct ToldOnce: Sendable, Hashable {
    /// For how long they are kept: as long as Apple's tokens live.
    public static let keptSeconds: Int64 = 86_400
    /// The most that are kept in all, but for those that calls bring at the same moment.
    public static let countMax = 10_000
    /// The most that are kept of one client's address, but for the same.
    public static let perAddressMax = 20

    /// By what they are found: the ID token's fingerprint, or ``key(ofCode:clientID:provider:)``.
    public let key: [UInt8]
    /// The provider.
    public let provider: ProviderName
    /// The name; at most what a display name may be.
    public let fullName: String?
    /// The e-mail; at most ``EmailAddress/bytesMax`` bytes.
    public let email: String?

    /// What is to be kept; nil if nothing was told that is a name or an e-mail.
    public init?(key: [UInt8], provider: ProviderName, fullName: String, email: String) {
        self.key = key
        self.provider = provider
        self.fullName = ToldName.accept(fullName)
        self.email = EmailAddress.accept(email)
        if self.fullName == nil, self.email == nil { return nil }
    }

    /// The key of what came with a code alone: a hash, so that the table holds no code.
    public static func key(ofCode code: String, clientID: String, provider: ProviderName) -> [UInt8] {
        SHA256.hash("vestibule told once 1\0\(provider)\0\(clientID)\0\(code)")
    }
}
