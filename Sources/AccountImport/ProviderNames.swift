/// Maps a former backend's provider names to ours.
public struct ProviderNames: Sendable, Hashable {
    /// The meaning of a former backend's provider name.
    public enum Meaning: Sendable, Hashable {
        /// The provider of this name.
        case provider(String)
        /// Not a provider: a phone number, a password, an anonymous user.
        case way(String)
        /// A provider that isn't configured.
        case unknown
    }

    /// Common backends' names of the usual providers.
    private static let usual = [
        "google.com": "google", "apple.com": "apple", "facebook.com": "facebook",
        "Google": "google", "SignInWithApple": "apple", "Facebook": "facebook",
    ]
    /// Names that aren't providers.
    private static let ways: Set<String> = [
        "email", "phone", "password", "anonymous", "custom", "firebase", "emailLink",
    ]

    private let mapping: [String: String]
    private let configured: Set<String>

    /// - Parameters:
    ///   - mapping: the operator's mapping of the backend's names to ours.
    ///   - configured: the configured providers.
    public init(_ mapping: [String: String], configured: Set<String>) {
        self.mapping = mapping
        self.configured = configured
    }

    /// Returns what a former backend's provider name means here.
    public func meaning(of provider: String) -> Meaning {
        if let named = mapping[provider] { return configured.contains(named) ? .provider(named) : .unknown }
        if Self.ways.contains(provider) { return .way(provider) }
        let name = Self.usual[provider] ?? provider
        return configured.contains(name) ? .provider(name) : .unknown
    }
}
