import HTTPJSON
import IdentityDomain
import RPCTransport
import ServiceKit
import WebPages

/// What the configuration says, parsed.
struct ConsoleSettings: Sendable {
    /// Where and how it listens.
    let edge: HTTPServer.Configuration
    /// By which browsers reach it.
    let origin: PageOrigin
    let operatorsFile: ConfiguredFile
    /// The provider by which operators sign in; nil if they do by certificate.
    let provider: OpenIDProvider.Settings?
    let sessions: ConsoleSessions.Limits
    /// Whether the listener asks browsers for certificates.
    let hasClientAuthorities: Bool
    /// How old a sign-in may be for guarded acts, in seconds.
    let freshSeconds: Int64
    /// The programs whose metrics are read.
    let targets: [MetricsTarget]

    /// Bounds: the console serves a few people. A certificate is verified as its connection begins, so that no connection is kept for long:
    /// its authority may be taken away, and it ends some day.
    private static let limits = {
        var limits = HTTPLimits(requestTimeout: .seconds(15), bodyBytesMax: 16 * 1024, connectionsMax: 256)
        limits.connectionAgeMax = .seconds(60)
        return limits
    }()

    /// Settings from a configuration that was read with our keys.
    ///
    /// - Throws: `ConfigurationErrors` for what is missing, unsafe, or names files that can't be used.
    init(_ configuration: Configuration) throws(ConfigurationErrors) {
        var faults = ConsoleKeys.tls.faultsOfEdge(configuration) + ConsoleKeys.channels.faults(configuration)
        let address = configuration[ConsoleKeys.listen]
        let tls = ConsoleKeys.tls.settings(configuration)
        if tls == nil, !address.isLoopback {
            faults.append(
                ConfigurationError(
                    key: ConsoleKeys.listen.name,
                    problem: "must be an address of this machine, such as 127.0.0.1:7090, unless "
                        + "\(ConsoleKeys.tls.certificate.name) is given"
                )
            )
        }
        let origin = Self.origin(configuration, address, isClear: tls == nil, &faults)
        let provider = Self.provider(configuration, origin, &faults)
        if provider == nil, tls?.authoritiesFile == nil, faults.isEmpty {
            faults.append(
                ConfigurationError(
                    key: ConsoleKeys.issuer.name,
                    problem: "is needed, unless operators sign in by certificates "
                        + "(\(ConsoleKeys.tls.clientAuthorities.name))"
                )
            )
        }
        if configuration[ConsoleKeys.operators] == nil {
            faults.append(ConfigurationError(key: ConsoleKeys.operators.name, problem: "is required"))
        }
        guard faults.isEmpty, let origin, let file = configuration[ConsoleKeys.operators] else {
            throw ConfigurationErrors(faults)
        }
        self.origin = origin
        self.provider = provider
        operatorsFile = file
        hasClientAuthorities = tls?.authoritiesFile != nil
        edge = HTTPServer.Configuration(
            host: address.host,
            port: address.port,
            limits: Self.limits,
            drainLimit: configuration[SharedKeys.drainLimit],
            tls: tls
        )
        sessions = ConsoleSessions.Limits(
            lifetimeSeconds: configuration[ConsoleKeys.lifetime].components.seconds,
            idleSeconds: configuration[ConsoleKeys.idle].components.seconds
        )
        freshSeconds = configuration[ConsoleKeys.fresh].components.seconds
        targets = zip(ConsoleKeys.programs, ConsoleKeys.metrics).compactMap { program, key in
            configuration[key].map { MetricsTarget(program: program, address: $0.reachable) }
        }
    }

    private static func origin(
        _ configuration: Configuration,
        _ address: HostPort,
        isClear: Bool,
        _ faults: inout [ConfigurationError]
    ) -> PageOrigin? {
        let url = configuration[ConsoleKeys.publicURL] ?? (address.isLoopback && isClear ? "http://\(address)" : nil)
        guard let url else {
            let problem =
                "is required with TLS: the address of the console in browsers, such as https://console.example.com"
            faults.append(ConfigurationError(key: ConsoleKeys.publicURL.name, problem: problem))
            return nil
        }
        guard let origin = PageOrigin(url.hasSuffix("/") ? String(url.dropLast()) : url) else {
            let problem = "must be scheme, host and port alone, of https, or of http at 127.0.0.1, [::1] or localhost"
            faults.append(ConfigurationError(key: ConsoleKeys.publicURL.name, problem: problem))
            return nil
        }
        return origin
    }

    private static func provider(
        _ configuration: Configuration,
        _ origin: PageOrigin?,
        _ faults: inout [ConfigurationError]
    ) -> OpenIDProvider.Settings? {
        guard let issuer = configuration[ConsoleKeys.issuer] else {
            for key in [ConsoleKeys.discoveryURL.name, ConsoleKeys.clientID.name, ConsoleKeys.clientSecret.name]
            where configuration.isGiven(key) {
                faults.append(ConfigurationError(key: key, problem: "needs \(ConsoleKeys.issuer.name) too"))
            }
            return nil
        }
        guard let clientID = configuration[ConsoleKeys.clientID] else {
            let problem = "is needed with \(ConsoleKeys.issuer.name)"
            faults.append(ConfigurationError(key: ConsoleKeys.clientID.name, problem: problem))
            return nil
        }
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let discovery = configuration[ConsoleKeys.discoveryURL] ?? "\(base)/.well-known/openid-configuration"
        guard ProviderURL.isAcceptable(discovery) else {
            let key =
                configuration.isGiven(ConsoleKeys.discoveryURL.name)
                ? ConsoleKeys.discoveryURL.name : ConsoleKeys.issuer.name
            faults.append(ConfigurationError(key: key, problem: "must be of https, or of http on this machine"))
            return nil
        }
        return OpenIDProvider.Settings(
            issuer: issuer,
            discoveryURL: discovery,
            clientID: clientID,
            clientSecret: configuration[ConsoleKeys.clientSecret]?.text,
            redirectURI: "\(origin?.text ?? "")\(SignInRoutes.callbackPath)",
            isAuthTimeOptional: configuration[ConsoleKeys.isAuthTimeOptional]
        )
    }
}
