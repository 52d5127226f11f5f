import IdentityDomain
import JOSE
import KeyRings
import Models
import OutgoingHTTP
import ServiceKit
import ServiceModels

/// The parsed configuration: its keys are valid and its providers consistent.
struct IdentitySettings: Sendable {
    /// The providers by their names.
    let providers: [ProviderName: ProviderConfiguration]
    /// Makes and verifies our tokens.
    let issuer: TokenIssuer
    /// The keys that make and verify refresh tokens.
    let refreshKeys: RefreshKeys
    /// The keys that seal providers' tokens; nil if none are kept.
    let vault: VaultKeys?
    /// The maximum of token checks per second for an app; 0 for no checks.
    let grantChecksPerSecond: Int
    /// The percentage of refused checks in a day above which checks stop.
    let grantRefusalsPercentMax: Int
    /// The content of the key folder when it was read.
    let keyRings: [KeyRing]
    /// The source to read our keys from again; nil if they never are.
    let keySource: TokenKeySource?
    /// The lifetimes and limits of sessions.
    let limits: SessionLimits
    /// The callers that are trusted to say that a refresh token came in some time ago, and that get proofs of callers.
    let gateways: CallerTrust
    /// The callers that may use the operators' methods.
    let operators: CallerTrust
    /// The callers that use the operators' methods on behalf of an operator whom they name.
    let operatorConsoles: CallerTrust
    /// The keys that make and check proofs of callers.
    let proofs: CallerProofParts
    /// Seals page tokens and positions.
    let cursors: CursorSeal
    /// The dialects in which users sign in without proof.
    let unprovenDialects: Set<String>
    /// Whether the error of a sign-in that is refused for its token's audience names that audience.
    let namesAudiences: Bool
    /// The webhook targets.
    let webhooks: [WebhookTarget]
    /// Whose assertions of phone numbers are accepted; nil for none.
    let phoneAssertions: PhoneAssertionPolicy?
    /// The apps that sign users in by OpenID Connect, by their ids.
    let clients: [String: OAuthClient]
    /// Where they are read from again; nil if they never are.
    let clientsFile: ClientsFile?
    /// Which phone numbers of imported accounts are accepted.
    let phonePolicy: PhonePolicy
    /// What guest accounts are subject to.
    let guests: GuestPolicy
    /// By what passkeys are added and sign in; nil where they don't.
    let passkeys: PasskeySettings?
    /// The proxies to providers and webhook targets.
    let proxies: ProxySettings

    /// Hints on settings that work but should be changed or known; each is logged once at start.
    let hints: [ConfigurationError]

    /// Settings by hand, for tests.
    init(
        providers: [ProviderConfiguration],
        issuer: TokenIssuer,
        refreshKeys: RefreshKeys,
        vault: VaultKeys? = nil,
        grantChecksPerSecond: Int = IdentityKeys.grantChecksDefault,
        grantRefusalsPercentMax: Int = IdentityKeys.grantRefusalsDefault,
        keyRings: [KeyRing] = [],
        keySource: TokenKeySource? = nil,
        limits: SessionLimits = SessionLimits(),
        gateways: CallerTrust = .nobody,
        operators: CallerTrust = .nobody,
        operatorConsoles: CallerTrust = .nobody,
        proofs: CallerProofParts,
        cursors: CursorSeal,
        unprovenDialects: Set<String> = [],
        namesAudiences: Bool = false,
        webhooks: [WebhookTarget] = [],
        phoneAssertions: PhoneAssertionPolicy? = nil,
        clients: [String: OAuthClient] = [:],
        clientsFile: ClientsFile? = nil,
        phonePolicy: PhonePolicy = .philippines,
        guests: GuestPolicy = GuestPolicy(),
        passkeys: PasskeySettings? = nil,
        proxies: ProxySettings = .none,
        hints: [ConfigurationError] = []
    ) {
        self.providers = Dictionary(providers.map { ($0.policy.name, $0) }, uniquingKeysWith: { _, last in last })
        self.issuer = issuer
        self.refreshKeys = refreshKeys
        self.vault = vault
        self.grantChecksPerSecond = grantChecksPerSecond
        self.grantRefusalsPercentMax = grantRefusalsPercentMax
        self.keyRings = keyRings
        self.keySource = keySource
        self.limits = limits
        self.gateways = gateways
        self.operators = operators
        self.operatorConsoles = operatorConsoles
        self.proofs = proofs
        self.cursors = cursors
        self.unprovenDialects = unprovenDialects
        self.namesAudiences = namesAudiences
        self.webhooks = webhooks
        self.phoneAssertions = phoneAssertions
        self.clients = clients
        self.clientsFile = clientsFile
        self.phonePolicy = phonePolicy
        self.guests = guests
        self.passkeys = passkeys
        self.proxies = proxies
        self.hints = hints
    }

    /// Settings from a configuration that was read with our keys.
    ///
    /// - Throws: `ConfigurationErrors` with all errors found; none shows a secret.
    init(_ configuration: Configuration) throws(ConfigurationErrors) {
        var faults: [ConfigurationError] = []
        let limits = Self.limits(configuration)
        let keySource = faults.collect { () throws(ConfigurationErrors) in try TokenKeySource(configuration) }
        let keys = faults.collect { () throws(ConfigurationErrors) in try keySource?.read() } ?? nil
        let issuerName = configuration[IdentityKeys.issuer]
        if issuerName == nil { faults.append(Self.issuerIsMissing) }
        let unprovenDialects = Self.unprovenDialects(configuration, &faults)
        let webhooks = faults.collect { () throws(ConfigurationErrors) in
            try WebhooksFile.read(configuration[IdentityKeys.webhooksFile])
        }
        let phoneAssertions = faults.collect { () throws(ConfigurationErrors) in
            try PhoneAssertionsFile.read(configuration[IdentityKeys.phoneAssertionsFile])
        }
        let phonePolicy = faults.collect { () throws(ConfigurationErrors) in try PhonePolicy(configuration) }
        let providers = ProviderSettings(configuration)
        faults += providers.faults
        let audiences = Set(providers.providers.flatMap { $0.policy.audiences.keys })
        let clientsFile = configuration[IdentityKeys.clientsFile].map { file in
            ClientsFile(file: file, audiences: audiences, signsRS256: keys?.rsaKey != nil)
        }
        let clients = faults.collect { () throws(ConfigurationErrors) in try clientsFile?.clients() ?? [:] }
        let passkeys = faults.collect { () throws(ConfigurationErrors) in try PasskeySettings(reading: configuration) }
        guard faults.isEmpty, let keys, let issuerName, let phonePolicy else { throw ConfigurationErrors(faults) }
        let issuer = TokenIssuer(
            issuer: issuerName,
            audience: configuration[IdentityKeys.audience],
            lifetimeSeconds: limits.accessTokenSeconds,
            signingKey: keys.signingKey,
            rsaKey: keys.rsaKey,
            otherKeys: keys.otherKeys,
            refreshKeys: keys.refreshKeys,
            tellsGuestsApart: configuration[IdentityKeys.Guests.areOn]
        )
        self.init(
            providers: providers.providers,
            issuer: issuer,
            refreshKeys: keys.refreshKeys,
            vault: keys.vault,
            grantChecksPerSecond: configuration[IdentityKeys.grantChecksPerSecond],
            grantRefusalsPercentMax: configuration[IdentityKeys.grantRefusalsPercentMax],
            keyRings: keys.rings,
            keySource: keySource,
            limits: limits,
            gateways: Self.trust(IdentityKeys.gateways, configuration),
            operators: Self.trust(IdentityKeys.operators, configuration),
            operatorConsoles: Self.trust(IdentityKeys.operatorConsoles, configuration),
            proofs: keys.proofs,
            cursors: keys.cursors,
            unprovenDialects: unprovenDialects,
            namesAudiences: configuration[IdentityKeys.namesAudiences],
            webhooks: webhooks ?? [],
            phoneAssertions: phoneAssertions ?? nil,
            clients: clients ?? [:],
            clientsFile: clientsFile,
            phonePolicy: phonePolicy,
            guests: GuestPolicy(configuration),
            passkeys: passkeys ?? nil,
            proxies: IdentityKeys.proxies(configuration),
            hints: providers.hints
        )
    }

    /// A token issuer like ``issuer``, with other keys.
    func issuer(with keys: TokenKeys) -> TokenIssuer {
        TokenIssuer(
            issuer: issuer.issuer,
            audience: issuer.audience,
            lifetimeSeconds: issuer.lifetimeSeconds,
            signingKey: keys.signingKey,
            rsaKey: keys.rsaKey,
            otherKeys: keys.otherKeys,
            refreshKeys: keys.refreshKeys,
            tellsGuestsApart: issuer.tellsGuestsApart
        )
    }

    /// The error of a configuration without our issuer.
    static let issuerIsMissing = ConfigurationError(
        key: IdentityKeys.issuer.name,
        problem: "is required: the public URL of the gateway, such as https://api.example.com"
    )

    /// Without client certificates callers can't be distinguished: then it is enough that only this machine can call.
    private static func trust(
        _ names: ConfigurationKey<[String]>,
        _ configuration: Configuration
    ) -> CallerTrust {
        if configuration[IdentityKeys.service.tls.clientAuthorities] != nil {
            return .named(Set(configuration[names]))
        }
        let host = configuration[IdentityKeys.service.listen].host
        return ["127.0.0.1", "::1", "localhost"].contains(host) ? .everybody : .nobody
    }

    private static func unprovenDialects(
        _ configuration: Configuration,
        _ faults: inout [ConfigurationError]
    ) -> Set<String> {
        let named = Set(configuration[IdentityKeys.unprovenLogins] ?? [])
        let known = UnprovenSignIn.dialects.sorted().joined(separator: ", ")
        for name in named.subtracting(UnprovenSignIn.dialects).sorted() {
            let quoted = ProviderFindings.quoted(name)
            let problem = "names \(quoted), in which nobody signs in without proof; it may name \(known)"
            faults.append(ConfigurationError(key: IdentityKeys.unprovenLogins.name, problem: problem))
        }
        return named
    }

    private static func limits(_ configuration: Configuration) -> SessionLimits {
        var limits = SessionLimits()
        limits.accessTokenSeconds = configuration[IdentityKeys.accessTokenLifetime].components.seconds
        limits.singleTokenSeconds = configuration[IdentityKeys.singleTokenLifetime].components.seconds
        limits.refreshGraceSeconds = configuration[IdentityKeys.refreshGrace].components.seconds
        limits.inactivitySeconds = configuration[IdentityKeys.inactivity].components.seconds
        limits.absoluteSeconds = configuration[IdentityKeys.sessionLifetime].components.seconds
        limits.sessionsMax = configuration[IdentityKeys.sessionsMax]
        limits.deletionSignInSeconds = configuration[IdentityKeys.recentSignIn].components.seconds
        limits.deletionDelaySeconds = configuration[IdentityKeys.deletionDelay].components.seconds
        limits.eventRetentionSeconds = configuration[IdentityKeys.eventRetention].components.seconds
        return limits
    }
}
