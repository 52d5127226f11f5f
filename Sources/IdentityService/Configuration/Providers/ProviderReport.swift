import IdentityDomain
import JOSE
import ServiceKit

/// The resulting configuration of one provider, in lines for people. None of them shows a secret.
struct ProviderReport {
    private static let labelWidth = 15

    private let provider: ProviderConfiguration

    init(_ provider: ProviderConfiguration) {
        self.provider = provider
    }

    /// The provider, and under it its audiences in order.
    var lines: [String] {
        let (policy, endpoints) = (provider.policy, provider.endpoints)
        let facts: [(String, String?)] = [
            ("display name", provider.displayName), ("issuer", policy.issuers.sorted().joined(separator: ", ")),
            ("algorithms", policy.algorithms.map(\.rawValue).sorted().joined(separator: ", ")),
            ("keys", policy.keysURL), ("authorization", endpoints.authorizationURL), ("token", endpoints.tokenURL),
            ("revocation", endpoints.revocationURL), ("user migration", endpoints.userMigrationURL),
            ("debug_token", endpoints.debugTokenURL), ("tokeninfo", endpoints.tokenInfoURL),
            ("userinfo", endpoints.userInfoURL),
            (
                "access tokens",
                provider.accessTokens == nil ? "do not sign in" : "sign in, as proven by access token only"
            ),
        ]
        return ["\(policy.name)"] + facts.compactMap { label, fact in fact.map { Self.line(label, $0, indent: 2) } }
            + policy.audiences.values.sorted { $0.id < $1.id }.flatMap(audienceLines)
    }

    private func audienceLines(_ audience: AudiencePolicy) -> [String] {
        let ownTokens = [
            audience.accessTokenSeconds.map { "live \($0) seconds" },
            audience.hasIDToken ? nil : "no ID token among them",
        ].compactMap(\.self)
        let facts: [(String, String?)] = [
            ("proof", audience.proofInWords), ("code", codeInWords(audience)),
            ("our tokens", ownTokens.isEmpty ? nil : ownTokens.joined(separator: ", ")),
        ]
        return ["  audience \(audience.id) (\(audience.kind.rawValue))"]
            + facts.compactMap { label, fact in fact.map { Self.line(label, $0, indent: 4) } }
            + audience.leftOpenInWords.map { Self.line("leaves open", $0, indent: 4) }
    }

    /// Whether and how an authorization code can be exchanged.
    private func codeInWords(_ audience: AudiencePolicy) -> String {
        if audience.nonce == .server { return "does not sign in by itself" }
        guard provider.endpoints.tokenURL != nil else { return "cannot be exchanged, without a token_url" }
        return switch provider.credentials[audience.id] {
        case .apple(let teamID, let keyID, _): "signs in by itself too; exchanged with key \(keyID) of team \(teamID)"
        case .secret: "signs in by itself too; exchanged with a client secret"
        case nil where provider.policy.name == .apple: "cannot be exchanged, without an apple_key"
        case nil: "signs in by itself too, with a code_verifier; this is a public client, without a client secret"
        }
    }

    private static func line(_ label: String, _ fact: String, indent: Int) -> String {
        let spaces = String(repeating: " ", count: max(1, labelWidth - label.count))
        return String(repeating: " ", count: indent) + label + spaces + fact
    }
}
