import IdentityDomain
import ServiceKit

/// The rules for values of a provider, wherever they are set. Each check returns the problem, as a clause that follows the value's
/// name, or nil.
struct ProviderRules {
    /// Whether providers are simulated here: then `http` URLs are allowed, and ids from our examples.
    private let isSimulated: Bool
    /// Whether the issuer of our own tokens is an `https` URL, so that this isn't a developer's machine.
    private let hasEncryptedIssuer: Bool

    init(_ configuration: Configuration) {
        isSimulated = configuration[IdentityKeys.simulatedProviders]
        hasEncryptedIssuer = configuration[IdentityKeys.issuer]?.hasPrefix("https://") == true
    }

    func problem(ofURL url: String) -> String? {
        guard ProviderURL.isAcceptable(url) else { return ProviderPolicyError.keysURL.description }
        if ProviderURL.isEncrypted(url) { return nil }
        guard isSimulated else {
            return "must be an https URL, unless \(IdentityKeys.simulatedProviders.name) is true, for development"
        }
        if ProviderURL.isLocal(url) || !hasEncryptedIssuer { return nil }
        return
            "must be an https URL, or stay on this machine, while the issuer is an https URL: without TLS a server that "
            + "takes over the name could sign in as any user"
    }

    /// `aud` is compared byte by byte, so it must not contain invisible characters.
    func problem(ofAudience id: String) -> String? {
        guard 1...AudiencePolicy.idBytesMax ~= id.utf8.count, id.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            return "must be 1 to \(AudiencePolicy.idBytesMax) visible ASCII characters"
        }
        return isSimulated || !Self.isPlaceholder(id) ? nil : placeholder
    }

    func problem(ofTeamID id: String) -> String? { problem(ofAppleID: id, placeholders: Self.placeholderTeams) }

    func problem(ofKeyID id: String) -> String? { problem(ofAppleID: id, placeholders: Self.placeholderKeys) }

    private func problem(ofAppleID id: String, placeholders: Set<String>) -> String? {
        guard id.utf8.count == 10, id.utf8.allSatisfy({ 0x41...0x5a ~= $0 || 0x30...0x39 ~= $0 }) else {
            return "must be 10 capital letters and digits"
        }
        return isSimulated || !placeholders.contains(id) ? nil : placeholder
    }

    private var placeholder: String {
        "is a placeholder out of an example. It could be the id of somebody else's app, whose tokens would sign in here; "
            + "only where \(IdentityKeys.simulatedProviders.name) is true, for development, is it taken"
    }

    /// The ids in our own documentation and development, and in Apple's documentation.
    private static let placeholderTeams: Set<String> = [
        "ABCDE12345", "DEF123GHIJ", "DEVTEAM001", "TEAMID1234", "XXXXXXXXXX",
    ]
    private static let placeholderKeys: Set<String> = [
        "KEY1234567", "ABC123DEFG", "DEVKEY0001", "DEVKEY0002", "KEYID12345", "XXXXXXXXXX",
    ]

    /// Returns whether an id is evidently a placeholder that was not replaced.
    static func isPlaceholder(_ id: String) -> Bool {
        let id = id.lowercased()
        let google = "apps.googleusercontent.com"
        return ["com", "net", "org"].contains { id == "\($0).example" || id.hasPrefix("\($0).example.") }
            || ["example.", "your"].contains { id.hasPrefix($0) && id.hasSuffix(google) } || id == google
            || id.hasSuffix(".example.\(google)")
            || ["1234567890", "123456789", "client-id", "client_id", "changeme", "change-me"].contains(id)
            || ["your-", "your_", "your.", "com.your"].contains { id.hasPrefix($0) }
            || id.contains("<") || id.contains(">")
    }
}
