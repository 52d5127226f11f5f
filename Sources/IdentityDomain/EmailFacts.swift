/// A user's e-mail address as a provider sent it: for display and messages, never a key.
public struct EmailFacts: Sendable, Hashable {
    /// The address.
    public let address: String
    /// Whether the provider says that it verified it.
    public let isVerified: Bool
    /// Whether it is a relay address of the provider.
    public let isPrivate: Bool

    /// Facts of an address; nil without one.
    public init?(address: String?, isVerified: Bool, isPrivate: Bool) {
        guard let address else { return nil }
        self.address = address
        self.isVerified = isVerified
        self.isPrivate = isPrivate
    }
}
