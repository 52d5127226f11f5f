import IdentityDomain
import JOSE
import ServiceKit

/// Reads the providers: from the providers file, and from variables for providers with one app or a few.
struct ProviderSettings {
    /// The enabled providers, sorted by name.
    let providers: [ProviderConfiguration]
    /// All errors.
    let faults: [ConfigurationError]
    /// Hints on settings that work but should be changed or known.
    let hints: [ConfigurationError]

    /// Reads a configuration with ``keys``.
    init(_ configuration: Configuration) {
        let findings = ProviderFindings()
        let rules = ProviderRules(configuration)
        let file = configuration[IdentityKeys.providersFile]
        let content = file.map { ProvidersFile.read($0, rules: rules, findings) } ?? ProvidersFile.Content()
        let isFileAtFault = !findings.faults.isEmpty
        var known = content.providers
        for provider in ProviderVariables(configuration, rules, findings, inFile: content.names).read() {
            known[provider.policy.name] = provider
        }
        providers = Self.select(known, configuration, isFileAtFault: isFileAtFault, findings)
        Self.checkTwins(providers, findings)
        faults = findings.faults
        hints = findings.hints
    }

    /// The keys that define the providers, and those that decide how the providers are checked.
    static let keys: [any AnyConfigurationKey] = [
        IdentityKeys.issuer, IdentityKeys.providers, IdentityKeys.providersFile, IdentityKeys.appleAudiences,
        IdentityKeys.appleKeysURL, IdentityKeys.appleTeamID, IdentityKeys.appleKeyID, IdentityKeys.applePrivateKey,
        IdentityKeys.googleAudiences, IdentityKeys.googleKeysURL, IdentityKeys.simulatedProviders,
    ]

    private static func select(
        _ known: [ProviderName: ProviderConfiguration],
        _ configuration: Configuration,
        isFileAtFault: Bool,
        _ findings: ProviderFindings
    ) -> [ProviderConfiguration] {
        guard let wanted = configuration[IdentityKeys.providers] else {
            // A provider may be in the part that was not understood, so none is reported as missing.
            if known.isEmpty, findings.faults.isEmpty {
                findings.fault(
                    IdentityKeys.appleAudiences.name,
                    "or \(IdentityKeys.googleAudiences.name) or \(IdentityKeys.providersFile.name) is required: without "
                        + "a provider nobody can sign in. They are the ids of your own apps"
                )
            }
            return known.values.sorted { $0.policy.name < $1.policy.name }
        }
        let names = Set(wanted.compactMap { ProviderName($0) }).sorted()
        for text in wanted where ProviderName(text).flatMap({ known[$0] }) == nil {
            // A provider with an error, or in a part of the file that was not understood, is reported already.
            if isFileAtFault { continue }
            let problem: String? =
                switch ProviderName(text) {
                case .apple: missing("apple", configuration, IdentityKeys.appleAudiences)
                case .google: missing("google", configuration, IdentityKeys.googleAudiences)
                default: "names \(ProviderFindings.quoted(text)), which is not in the providers file"
                }
            if let problem { findings.fault(IdentityKeys.providers.name, problem) }
        }
        return names.compactMap { known[$0] }
    }

    private static func missing(
        _ name: String,
        _ configuration: Configuration,
        _ audiences: ConfigurationKey<[String]?>
    ) -> String? {
        configuration[audiences] == nil
            ? "names \(name), but \(audiences.name) is not given, and the providers file has no \(name)" : nil
    }

    /// Accounts are stored by provider and subject: a user whose token two providers accept would have two accounts.
    private static func checkTwins(
        _ providers: [ProviderConfiguration],
        _ findings: ProviderFindings
    ) {
        let policies = providers.map(\.policy)
        for (index, policy) in policies.enumerated() {
            for other in policies[..<index] where !policy.issuers.isDisjoint(with: other.issuers) {
                for id in policy.audiences.keys.sorted() where other.audiences[id] != nil {
                    findings.fault(
                        IdentityKeys.providersFile.name,
                        "provider \"\(policy.name)\", audience \(ProviderFindings.quoted(id)): provider \"\(other.name)\" "
                            + "has the same issuer and audience, so that a person would have two accounts"
                    )
                }
            }
        }
    }
}
