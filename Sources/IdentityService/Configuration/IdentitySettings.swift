import IdentityDomain
import JOSE
import OutgoingHTTP
import ServiceKit

/// What the configuration says, parsed: the keys are keys and the providers hold together.
struct IdentitySettings: Sendable {
    /// The providers by their names.
    let providers: [ProviderName: ProviderConfiguration]
    /// Makes and verifies our tokens.
    let issuer: TokenIssuer
    /// Make and verify refresh tokens.
    let refreshKeys: RefreshKeys
    /// How long sessions live.
    let limits: SessionLimits
    /// Who is believed when they say that a refresh token came in some time ago.
    let lateCallers: CallerTrust
    /// The dialects in which people are let in without proof.
    let unprovenDialects: Set<String>
    /// The way out to providers.
    let proxies: ProxySettings

    /// What works, but should be mended, or known: each a line to log once at start.
    let hints: [ConfigurationFault]

    /// Settings by hand, for tests.
    init(
        providers: [ProviderConfiguration],
        issuer: TokenIssuer,
        refreshKeys: RefreshKeys,
        limits: SessionLimits = SessionLimits(),
        lateCallers: CallerTrust = .nobody,
        unprovenDialects: Set<String> = [],
        proxies: ProxySettings = .none,
        hints: [ConfigurationFault] = []
    ) {
        self.providers = Dictionary(providers.map { ($0.policy.name, $0) }, uniquingKeysWith: { _, last in last })
        self.issuer = issuer
        self.refreshKeys = refreshKeys
        self.limits = limits
        self.lateCallers = lateCallers
        self.unprovenDialects = unprovenDialects
        self.proxies = proxies
        self.hints = hints
    }

    /// Settings from a configuration that was read with our keys.
    ///
    /// - Throws: `ConfigurationFaults` with every fault found; none shows a secret.
    init(_ configuration: Configuration) throws(ConfigurationFaults) {
        var faults: [ConfigurationFault] = []
        let limits = Self.limits(configuration)
        let signingKey = Self.signingKey(configuration[IdentityKeys.signingKey], IdentityKeys.signingKey.name, &faults)
        let otherKey = configuration[IdentityKeys.otherSigningKey].flatMap {
            Self.verificationKey($0, IdentityKeys.otherSigningKey.name, &faults)
        }
        if let otherKey, otherKey.thumbprint == signingKey?.keyID {
            faults.append(
                ConfigurationFault(key: IdentityKeys.otherSigningKey.name, problem: "holds the same key as the first")
            )
        }
        let refreshKeys = Self.refreshKeys(configuration, &faults)
        let issuerName = configuration[IdentityKeys.issuer]
        if issuerName == nil { faults.append(Self.issuerIsMissing) }
        let unprovenDialects = Self.unprovenDialects(configuration, &faults)
        let providers = ProviderSettings(configuration)
        faults += providers.faults
        guard faults.isEmpty, let signingKey, let refreshKeys, let issuerName else { throw ConfigurationFaults(faults) }
        let issuer = TokenIssuer(
            issuer: issuerName,
            audience: configuration[IdentityKeys.audience],
            lifetimeSeconds: limits.accessTokenSeconds,
            signingKey: signingKey,
            otherKeys: otherKey.map { [$0] } ?? []
        )
        self.init(
            providers: providers.providers,
            issuer: issuer,
            refreshKeys: refreshKeys,
            limits: limits,
            lateCallers: Self.lateCallers(configuration),
            unprovenDialects: unprovenDialects,
            proxies: ProxySettings(
                https: configuration[IdentityKeys.httpsProxy],
                http: configuration[IdentityKeys.httpProxy],
                exceptions: configuration[IdentityKeys.withoutProxy] ?? ProxyExceptions("")
            ),
            hints: providers.hints
        )
    }

    /// The fault of a configuration without our name.
    static let issuerIsMissing = ConfigurationFault(
        key: IdentityKeys.issuer.name,
        problem: "is required: the public URL of the gateway, such as https://api.example.com"
    )

    /// Without client certificates nobody can be told from anybody: then it is enough that only this machine can call.
    private static func lateCallers(_ configuration: Configuration) -> CallerTrust {
        if configuration[IdentityKeys.service.tls.clientAuthorities] != nil {
            return .named(Set(configuration[IdentityKeys.gateways]))
        }
        let host = configuration[IdentityKeys.service.listen].host
        return ["127.0.0.1", "::1", "localhost"].contains(host) ? .everybody : .nobody
    }

    private static func unprovenDialects(
        _ configuration: Configuration,
        _ faults: inout [ConfigurationFault]
    ) -> Set<String> {
        let named = Set(configuration[IdentityKeys.unprovenLogins] ?? [])
        let known = UnprovenSignIn.dialects.sorted().joined(separator: ", ")
        for name in named.subtracting(UnprovenSignIn.dialects).sorted() {
            let quoted = ProviderFindings.quoted(name)
            let problem = "names \(quoted), in which nobody signs in without proof; it may name \(known)"
            faults.append(ConfigurationFault(key: IdentityKeys.unprovenLogins.name, problem: problem))
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
        return limits
    }

    private static func signingKey(
        _ secret: Secret,
        _ name: String,
        _ faults: inout [ConfigurationFault]
    ) -> SigningKey? {
        do {
            return try SigningKey(pem: secret.text)
        } catch {
            let otherwise = "holds no private key in PEM that can sign: P-256, P-384 or RSA, without a password"
            faults.append(ConfigurationFault(key: name, problem: problem(error, otherwise: otherwise)))
            return nil
        }
    }

    /// The public key of a text that holds it, or the private one.
    private static func verificationKey(
        _ secret: Secret,
        _ name: String,
        _ faults: inout [ConfigurationFault]
    ) -> VerificationKey? {
        if let key = try? SigningKey(pem: secret.text) { return key.verificationKey }
        do {
            return try VerificationKey(pem: secret.text)
        } catch {
            let otherwise = "holds no private or public key in PEM: P-256, P-384 or RSA, without a password"
            faults.append(ConfigurationFault(key: name, problem: problem(error, otherwise: otherwise)))
            return nil
        }
    }

    private static func problem(_ error: KeyError, otherwise: String) -> String {
        switch error {
        case .unacceptableSize(let bits): "holds an RSA key of \(bits) bits; 2048 to 8192 are allowed"
        case .guessablePrimes: "holds an RSA key whose primes can be found (CVE-2017-15361)"
        case .malformed, .unsupported, .cryptography: otherwise
        }
    }

    private static func refreshKeys(
        _ configuration: Configuration,
        _ faults: inout [ConfigurationFault]
    ) -> RefreshKeys? {
        var keys: [[UInt8]] = []
        let files: [(String, Secret?)] = [
            (IdentityKeys.refreshKey.name, configuration[IdentityKeys.refreshKey]),
            (IdentityKeys.otherRefreshKey.name, configuration[IdentityKeys.otherRefreshKey]),
        ]
        for (name, secret) in files {
            guard let secret else { continue }
            guard secret.bytes.count == RefreshKeys.keyByteCount else {
                faults.append(
                    ConfigurationFault(
                        key: name,
                        problem: "holds \(secret.bytes.count) bytes; a key has \(RefreshKeys.keyByteCount)"
                    )
                )
                continue
            }
            keys.append(secret.bytes)
        }
        return RefreshKeys(keys)
    }
}
