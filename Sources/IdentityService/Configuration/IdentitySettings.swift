import IdentityDomain
import JOSE
import ServiceKit

/// What the configuration says, parsed: the keys are keys and the providers hold together.
public struct IdentitySettings: Sendable {
    /// The providers by their names.
    public let providers: [ProviderName: ProviderPolicy]
    /// Makes and verifies our tokens.
    public let issuer: TokenIssuer
    /// Make and verify refresh tokens.
    public let refreshKeys: RefreshKeys
    /// How long sessions live.
    public let limits: SessionLimits

    /// Settings by hand, for tests.
    public init(
        providers: [ProviderPolicy],
        issuer: TokenIssuer,
        refreshKeys: RefreshKeys,
        limits: SessionLimits = SessionLimits()
    ) {
        self.providers = Dictionary(providers.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
        self.issuer = issuer
        self.refreshKeys = refreshKeys
        self.limits = limits
    }

    /// Settings from a configuration that was read with our keys.
    ///
    /// - Throws: `ConfigurationFaults` with every fault found; none shows a secret.
    public init(_ configuration: Configuration) throws(ConfigurationFaults) {
        var faults: [ConfigurationFault] = []
        let limits = Self.limits(configuration)
        let signingKey = Self.signingKey(configuration[IdentityKeys.signingKey], IdentityKeys.signingKey.name, &faults)
        let otherKey = configuration[IdentityKeys.otherSigningKey].flatMap {
            Self.signingKey($0, IdentityKeys.otherSigningKey.name, &faults)
        }
        if let otherKey, otherKey.keyID == signingKey?.keyID {
            faults.append(
                ConfigurationFault(key: IdentityKeys.otherSigningKey.name, problem: "holds the same key as the first")
            )
        }
        let refreshKeys = Self.refreshKeys(configuration, &faults)
        let providers = ProviderSettings.read(configuration, &faults)
        guard faults.isEmpty, let signingKey, let refreshKeys else { throw ConfigurationFaults(faults) }
        let issuer = TokenIssuer(
            issuer: configuration[IdentityKeys.issuer],
            audience: configuration[IdentityKeys.audience],
            lifetimeSeconds: limits.accessTokenSeconds,
            signingKey: signingKey,
            otherKeys: otherKey.map { [$0] } ?? []
        )
        self.init(providers: providers, issuer: issuer, refreshKeys: refreshKeys, limits: limits)
    }

    private static func limits(_ configuration: Configuration) -> SessionLimits {
        var limits = SessionLimits()
        limits.accessTokenSeconds = configuration[IdentityKeys.accessTokenLifetime].components.seconds
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
            let problem =
                switch error {
                case .unacceptableSize(let bits): "holds an RSA key of \(bits) bits; 2048 to 8192 are allowed"
                case .malformed, .unsupported, .cryptography:
                    "holds no private key in PEM that can sign: P-256, P-384 or RSA, without a password"
                }
            faults.append(ConfigurationFault(key: name, problem: problem))
            return nil
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
