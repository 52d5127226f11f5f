/// How the providers of a former backend are called here.
public struct ProviderNames: Sendable, Hashable {
    /// What a provider of theirs is here.
    public enum Meaning: Sendable, Hashable {
        /// The provider of this name.
        case provider(String)
        /// No provider: a phone number, a password, nobody.
        case way(String)
        /// One that isn't configured.
        case unknown
    }

    /// What they call those that everybody has.
    private static let usual = [
        "google.com": "google", "apple.com": "apple", "facebook.com": "facebook",
        "Google": "google", "SignInWithApple": "apple", "Facebook": "facebook",
    ]
    /// What isn't a provider.
    private static let ways: Set<String> = [
        "email", "phone", "password", "anonymous", "custom", "firebase", "emailLink",
    ]

    private let mapping: [String: String]
    private let configured: Set<String>

    /// - Parameters:
    ///   - mapping: what an operator says: their name to ours.
    ///   - configured: the providers that there are here.
    public init(_ mapping: [String: String], configured: Set<String>) {
        self.mapping = mapping
        self.configured = configured
    }

    /// What a provider of theirs is here.
    public func meaning(of provider: String) -> Meaning {
        if let named = mapping[provider] { return configured.contains(named) ? .provider(named) : .unknown }
        if Self.ways.contains(provider) { return .way(provider) }
        let name = Self.usual[provider] ?? provider
        return configured.contains(name) ? .provider(name) : .unknown
    }
}
