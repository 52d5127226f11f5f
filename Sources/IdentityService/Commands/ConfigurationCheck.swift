import IdentityDomain
import JOSE
import ServiceKit
import ServiceStore
import WebAuthn

/// `check`: reads the configuration of identity and its providers file as `serve` does, and reports the result. Connects to
/// nothing.
public struct ConfigurationCheck: Sendable {
    /// What a check found, each in a line.
    public struct Outcome: Sendable, Hashable {
        /// The configured providers and webhook targets, then hints.
        public let report: [String]
        /// All errors; with any of them identity does not start.
        public let faults: [String]
    }

    /// The text of `--help`.
    public static let discussion = """
        Reads the configuration of identity as `serve` does: environment, --config and the providers file that they name. Tells \
        for each provider its issuer and endpoints, and for each audience its kind, what proves a sign-in there and what that \
        leaves open; for each webhook target its events and its address; then hints, such as what open groups give away while nobody \
        proves phone numbers. Tells all faults at once, and never a secret. Connects to nothing.

        With --providers it looks at that file alone, so that it can be checked where identity's secrets are not: only the \
        keys about providers are read. The files that it names, private keys and client secrets, must be there.

        Exits with 0 if identity would start with this configuration, with 1 if it would not.
        """

    private let path: String?
    private let providersPath: String?
    private let environment: [String: String]

    /// A check.
    ///
    /// - Parameters:
    ///   - path: the configuration file; nil to use VESTIBULE_CONFIG.
    ///   - providersPath: a providers file to check alone, instead of the one that the configuration names.
    ///   - environment: the process's variables.
    public init(path: String?, providersPath: String?, environment: [String: String]) {
        self.path = path
        self.providersPath = providersPath
        self.environment = environment
    }

    /// Checks.
    public func run() -> Outcome {
        var faults: [ConfigurationError] = []
        var webhooks: [WebhookTarget] = []
        var phoneAssertions: PhoneAssertionPolicy?
        var clients: [OAuthClient] = []
        var passkeys: PasskeySettings?
        var hints =
            providersPath == nil ? checkService(&faults, &webhooks, &phoneAssertions, &clients, &passkeys) : []
        var providers: [ProviderConfiguration] = []
        // Apart from the rest, so that errors of providers are reported even if another key is invalid.
        if let configuration = faults.collect({ () throws(ConfigurationErrors) in try providersConfiguration() }) {
            let settings = ProviderSettings(configuration)
            faults += settings.faults
            hints += settings.hints
            providers = settings.providers
            if providersPath == nil, configuration[IdentityKeys.issuer] == nil {
                faults.append(IdentitySettings.issuerIsMissing)
            }
        }
        let lines =
            providers.flatMap { ProviderReport($0).lines + [""] } + webhooks.flatMap(\.lines)
            + (phoneAssertions?.lines ?? []) + clients.flatMap(\.lines) + (passkeys?.lines ?? [])
            + hints.uniqued.map { "hint: \($0)" }
        let told = faults.uniqued.map(\.description)
        return Outcome(report: lines + [summary(providers, faultCount: told.count)], faults: told)
    }

    private func summary(_ providers: [ProviderConfiguration], faultCount: Int) -> String {
        let audienceCount = providers.reduce(0) { $0 + $1.policy.audiences.count }
        let what = providersPath.map { "the providers of \($0)" } ?? "the configuration of identity"
        return "\(what): providers in order \(providers.count), audiences \(audienceCount), faults \(faultCount)"
    }

    /// Everything that keeps identity from starting, short of connecting; returns the warnings.
    private func checkService(
        _ faults: inout [ConfigurationError],
        _ webhooks: inout [WebhookTarget],
        _ phoneAssertions: inout PhoneAssertionPolicy?,
        _ clients: inout [OAuthClient],
        _ passkeys: inout PasskeySettings?
    ) -> [ConfigurationError] {
        let configuration = faults.collect { () throws(ConfigurationErrors) in
            try Configuration.load(
                keys: IdentityServer.configurationKeys,
                program: IdentityServer.programName,
                path: path,
                environment: environment
            )
        }
        guard let configuration else { return [] }
        let settings = faults.collect { () throws(ConfigurationErrors) in try IdentitySettings(configuration) }
        faults += IdentityServer.runtime(configuration).faults
        webhooks = settings?.webhooks ?? []
        phoneAssertions = settings?.phoneAssertions
        passkeys = settings?.passkeys
        clients = (settings?.clients.values).map { $0.sorted { $0.id < $1.id } } ?? []
        let opennessHints = settings == nil || phoneAssertions != nil ? [] : openGroupHints()
        return configuration.warnings + unprovenHints(settings?.unprovenDialects ?? []) + opennessHints
    }

    /// Hints that no audience's report contains: users get in without any proof.
    private func unprovenHints(_ dialects: Set<String>) -> [ConfigurationError] {
        dialects.sorted().map { dialect in
            ConfigurationError(
                key: IdentityKeys.unprovenLogins.name,
                problem:
                    "lets in anyone who knows a user's id at the provider, without proof, in the dialect \"\(dialect)\""
            )
        }
    }

    /// Whether new groups are open. This is a setting of invites; it is read if the environment or the file has it.
    private static let openness = ConfigurationKey<String?>.optionalString(
        "VESTIBULE_INVITES_OPENNESS",
        help: "How people become members of new groups."
    ).formerly("VESTIBULE_INVITES_GROUP_OPENNESS")

    /// Hints what open groups disclose while no phone numbers are proven.
    private func openGroupHints() -> [ConfigurationError] {
        let found = try? Configuration.load(only: [Self.openness], path: path, environment: environment)
        let openness = found?[Self.openness]
        guard openness == nil || openness == "open" else { return [] }
        return [
            ConfigurationError(
                key: IdentityKeys.phoneAssertionsFile.name,
                problem: """
                    is not set, so nobody proves phone numbers; \(openness == nil ? "with VESTIBULE_INVITES_OPENNESS=open" : "and new groups are open:") \
                    a stranger who types a number that a group awaits is a member at once and sees the names of the members, and the owner of the \
                    number can't register it until the stranger gives it up. Such a member is marked and adds nobody until somebody confirms them; \
                    confirm and consent ask somebody first
                    """
            )
        ]
    }

    private func providersConfiguration() throws(ConfigurationErrors) -> Configuration {
        guard let providersPath else {
            return try Configuration.load(only: ProviderSettings.keys, path: path, environment: environment)
        }
        let only = [IdentityKeys.providersFile.name: providersPath]
        // Of the other keys only those that decide by which rules the file is checked.
        return try Configuration.load(
            only: ProviderSettings.keys,
            path: nil,
            environment: environment.filter { name, _ in
                ([IdentityKeys.issuer.name, IdentityKeys.simulatedProviders.name]
                    + IdentityKeys.simulatedProviders.formerNames).contains(name)
            }
            .merging(only) { _, new in new }
        )
    }
}

extension WebhookTarget {
    /// Which events go where, without secrets and values that may be secret.
    fileprivate var lines: [String] {
        [
            "webhooks to \(name): \(typeNames.joined(separator: ", "))",
            "  at \(place), signed by \(secrets.count == 1 ? "one secret" : "\(secrets.count) secrets")"
                + (mayBePrivate ? ", also at private addresses" : ""), "",
        ]
    }
}

extension PhoneAssertionPolicy {
    /// Whose assertions are accepted.
    fileprivate var lines: [String] {
        let keys = keys.entries.map { "\($0.keyID) (\($0.algorithm?.rawValue ?? "any of its kind"))" }
        return [
            "phone numbers are proven by assertions of \(issuer) to \(audience)",
            "  signed by \(keys.joined(separator: ", "))", "",
        ]
    }
}

extension PasskeySettings {
    /// For what passkeys are made, and who may use them.
    fileprivate var lines: [String] {
        let verification = relyingParty.userVerification == .required ? "with" : "also without"
        return [
            "passkeys for \(relyingParty.id), \(verification) verification of the user",
            "  from \(relyingParty.origins.joined(separator: ", "))",
            "  \(attestation.summary)",
            "  a passkey opens nothing under another domain: don't change it once users have passkeys", "",
        ]
    }
}

extension OAuthClient {
    /// Which app signs users in, and where browsers are sent.
    var lines: [String] {
        let proof = requiresPKCE ? "PKCE" : "PKCE or a nonce"
        return [
            "client \(id) (\(name.printable)): \(authentication.kind), with \(proof)\(isDisabled ? ", switched off" : "")",
            "  scopes \(scopes.text)",
            "  redirects to \(redirectURIs.map(\.text).joined(separator: ", "))", "",
        ]
    }
}

extension ClientAuthentication {
    /// In words.
    var kind: String {
        switch self {
        case .none: "public"
        case .secrets: "confidential, by a secret"
        case .keys: "confidential, by a key"
        }
    }
}

extension [ConfigurationError] {
    /// Each once, in the order in which they were found.
    fileprivate var uniqued: [ConfigurationError] {
        var seen: Set<ConfigurationError> = []
        return filter { seen.insert($0).inserted }
    }
}
