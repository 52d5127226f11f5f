import IdentityDomain
import JOSE
import KeyRings
import Models
import OutgoingHTTP
import ServiceKit
import ServiceModels

/// What the configuration says, parsed: the keys are keys and the providers hold together.
struct IdentitySettings: Sendable {
    /// The providers by their names.
    let providers: [ProviderName: ProviderConfiguration]
    /// Makes and verifies our tokens.
    let issuer: TokenIssuer
    /// Make and verify refresh tokens.
    let refreshKeys: RefreshKeys
    /// Seal providers' tokens; nil where none is kept.
    let vault: VaultKeys?
    /// How many tokens of an app may be checked in a second; none if 0.
    let grantChecksPerSecond: Int
    /// How many percent of a day's checks may be refused before checks stop.
    let grantRefusalsPercentMax: Int
    /// What the folder of keys held when they were read.
    let keyRings: [KeyRing]
    /// Where our keys are read from again; nil if they never are.
    let keySource: TokenKeySource?
    /// How long sessions live.
    let limits: SessionLimits
    /// Who is believed when they say that a refresh token came in some time ago, and is given proofs of callers.
    let gateways: CallerTrust
    /// Who may do with accounts what operators do.
    let operators: CallerTrust
    /// Make and check proofs of callers.
    let proofs: CallerProofParts
    /// Seals page tokens and positions.
    let cursors: CursorSeal
    /// The dialects in which people are let in without proof.
    let unprovenDialects: Set<String>
    /// Whether a sign-in that is refused for the audience of its token is answered with that audience.
    let namesAudiences: Bool
    /// Who is told of events.
    let webhooks: [WebhookTarget]
    /// Whose assertions of phone numbers are believed; nil for nobody's.
    let phoneAssertions: PhoneAssertionPolicy?
    /// Which phone numbers are taken of accounts that are imported.
    let phonePolicy: PhonePolicy
    /// The way out to providers and targets of webhooks.
    let proxies: ProxySettings

    /// What works, but should be mended, or known: each a line to log once at start.
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
        proofs: CallerProofParts,
        cursors: CursorSeal,
        unprovenDialects: Set<String> = [],
        namesAudiences: Bool = false,
        webhooks: [WebhookTarget] = [],
        phoneAssertions: PhoneAssertionPolicy? = nil,
        phonePolicy: PhonePolicy = .philippines,
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
        self.proofs = proofs
        self.cursors = cursors
        self.unprovenDialects = unprovenDialects
        self.namesAudiences = namesAudiences
        self.webhooks = webhooks
        self.phoneAssertions = phoneAssertions
        self.phonePolicy = phonePolicy
        self.proxies = proxies
        self.hints = hints
    }

    /// Settings from a configuration that was read with our keys.
    ///
    /// - Throws: `ConfigurationErrors` with every fault found; none shows a secret.
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
        guard faults.isEmpty, let keys, let issuerName, let phonePolicy else { throw ConfigurationErrors(faults) }
        let issuer = TokenIssuer(
            issuer: issuerName,
            audience: configuration[IdentityKeys.audience],
            lifetimeSeconds: limits.accessTokenSeconds,
            signingKey: keys.signingKey,
            otherKeys: keys.otherKeys,
            refreshKeys: keys.refreshKeys
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
            proofs: keys.proofs,
            cursors: keys.cursors,
            unprovenDialects: unprovenDialects,
            namesAudiences: configuration[IdentityKeys.namesAudiences],
            webhooks: webhooks ?? [],
            phoneAssertions: phoneAssertions ?? nil,
            phonePolicy: phonePolicy,
            proxies: ProxySettings(
                https: configuration[IdentityKeys.httpsProxy],
                http: configuration[IdentityKeys.httpProxy],
                exceptions: configuration[IdentityKeys.withoutProxy] ?? ProxyExceptions("")
            ),
            hints: providers.hints
        )
    }

    /// What makes and verifies our tokens with other keys.
    func issuer(with keys: TokenKeys) -> TokenIssuer {
        TokenIssuer(
            issuer: issuer.issuer,
            audience: issuer.audience,
            lifetimeSeconds: issuer.lifetimeSeconds,
            signingKey: keys.signingKey,
            otherKeys: keys.otherKeys,
            refreshKeys: keys.refreshKeys
        )
    }

    /// The fault of a configuration without our name.
    static let issuerIsMissing = ConfigurationError(
        key: IdentityKeys.issuer.name,
        problem: "is required: the public URL of the gateway, such as https://api.example.com"
    )

    /// Without client certificates nobody can be told from anybody: then it is enough that only this machine can call.
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
