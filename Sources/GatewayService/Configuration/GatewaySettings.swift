import DPoP
import HTTPJSON
import RPCTransport
import ServiceKit

/// What the configuration says, parsed.
struct GatewaySettings: Sendable {
    /// Where and how the gateway listens.
    let edge: HTTPServer.Configuration
    /// How its routes answer.
    var routes: RouteHandler.Configuration
    /// The rate limit's part.
    let rateLimit: RateLimit.Policy
    /// The dialects' part.
    let dialects: DialectSettings
    /// Who may ask about tokens; nil where nobody may.
    let introspectionClients: IntrospectionClients?
    /// Apple by web; nil where it is off.
    let webSignIn: WebSignIn?
    /// The pages that sign in; nil where they are off.
    let signInPages: SignInPages?
    /// The languages of the pages.
    let languages: PageLanguages
    /// The page of development; nil where there is none.
    let home: DevelopmentHome?
    /// Which apps and pages may use the domain's passkeys.
    let associations: DomainAssociations
    /// Where uploaded avatars are, and how large they may be.
    let avatars: AvatarAddress
    /// Where proofs of possession name the gateway; nil without a public address, and then no session is bound to a key.
    let proofAddress: TargetURI?
    /// Whether such a proof needs a nonce of this process.
    let proofsNeedNonce: Bool
    /// How access tokens are judged.
    let check: SessionCheck
    /// For how long reads go on while identity doesn't respond.
    let outageGrace: Duration
    /// How many may watch their groups.
    let watchLimits: GroupWatches.Limits

    /// Settings from a configuration that was read with our keys.
    ///
    /// - Throws: `ConfigurationErrors` for keys that are not understood any more, and for files of TLS that cannot be used.
    init(_ configuration: Configuration) throws(ConfigurationErrors) {
        var faults = Self.faults(configuration)
        let webSignIn = WebSignIn.read(configuration, &faults)
        let signInPages = SignInPages.read(configuration, &faults)
        languages = PageLanguages.read(configuration, &faults)
        let home = DevelopmentHome.read(configuration, &faults)
        associations = DomainAssociations.read(configuration, &faults)
        let crossOrigin = Self.crossOrigin(configuration, &faults)
        let introspectionClients = faults.collect { () throws(ConfigurationErrors) in
            guard let file = configuration[GatewayKeys.introspectionClients] else { return IntrospectionClients?.none }
            return try IntrospectionClients(file)
        }
        guard faults.isEmpty else { throw ConfigurationErrors(faults) }
        edge = Self.edge(configuration)
        var routes = RouteHandler.Configuration(limits: edge.limits)
        routes.strictTransportSeconds = Self.strictTransportSeconds(configuration)
        routes.crossOrigin = crossOrigin
        routes.crossOriginSetting = home == nil ? nil : GatewayKeys.origins.name
        self.routes = routes
        self.webSignIn = webSignIn
        self.signInPages = signInPages
        self.home = home
        avatars = AvatarAddress(
            publicURL: configuration[GatewayKeys.publicURL] ?? "",
            bytesMax: configuration[SharedKeys.avatarBytes]
        )
        rateLimit = Self.rateLimit(configuration)
        dialects = DialectSettings(configuration)
        proofAddress = configuration[GatewayKeys.publicURL].flatMap { TargetURI($0) }
        proofsNeedNonce = configuration[GatewayKeys.proofNonce]
        check = configuration[GatewayKeys.check]
        outageGrace = configuration[GatewayKeys.outageGrace]
        var watchLimits = GroupWatches.Limits()
        watchLimits.watchesMax = configuration[GatewayKeys.watchesMax]
        watchLimits.perAccountMax = configuration[GatewayKeys.watchesPerAccount]
        self.watchLimits = watchLimits
        self.introspectionClients = introspectionClients ?? nil
    }

    private static func edge(_ configuration: Configuration) -> HTTPServer.Configuration {
        let address = configuration[GatewayKeys.listen]
        var limits = HTTPLimits(
            requestTimeout: configuration[GatewayKeys.requestTimeout],
            bodyBytesMax: configuration[GatewayKeys.bodyBytesMax],
            connectionsMax: configuration[GatewayKeys.connectionsMax],
            idleTimeout: configuration[GatewayKeys.idleTimeout]
        )
        // Behind a proxy all clients have one address, unless the proxy says by PROXY protocol which.
        if configuration[GatewayKeys.trustedProxies].isEmpty {
            limits.connectionsPerAddressMax = max(1, limits.connectionsMax / 2)
        }
        var edge = HTTPServer.Configuration(
            host: address.host,
            port: address.port,
            limits: limits,
            drainLimit: configuration[SharedKeys.drainLimit],
            tls: GatewayKeys.tls.settings(configuration)
        )
        edge.proxyProtocol = configuration[GatewayKeys.proxyProtocol].compactMap { ProxyNetwork($0.description) }
        return edge
    }

    /// Half a year where the port speaks TLS and nothing else is said: who has come by HTTPS comes so again.
    private static func strictTransportSeconds(_ configuration: Configuration) -> Int64 {
        let key = GatewayKeys.strictTransport
        if !configuration.isGiven(key.name), GatewayKeys.tls.settings(configuration) != nil { return 180 * 86_400 }
        return configuration[key].components.seconds
    }

    private static func rateLimit(_ configuration: Configuration) -> RateLimit.Policy {
        func rate(_ perSecond: ConfigurationKey<Int>, _ burst: ConfigurationKey<Int>) -> RequestRate {
            RequestRate(perSecond: Double(configuration[perSecond]), burst: Double(configuration[burst]))
        }
        return RateLimit.Policy(
            address: rate(GatewayKeys.addressPerSecond, GatewayKeys.addressBurst),
            auth: rate(GatewayKeys.authPerSecond, GatewayKeys.authBurst),
            account: rate(GatewayKeys.accountPerSecond, GatewayKeys.accountBurst),
            changes: rate(GatewayKeys.changesPerSecond, GatewayKeys.changesBurst),
            trustedProxies: configuration[GatewayKeys.trustedProxies]
        )
    }

    private static func faults(_ configuration: Configuration) -> [ConfigurationError] {
        let replaced = GatewayKeys.replacedProxyCount
        var others =
            GatewayKeys.tls.faultsOfEdge(configuration) + GatewayKeys.channels.faults(configuration)
            + TraceKeys.faults(configuration) + DialectSettings.faults(configuration)
        let grace = GatewayKeys.outageGrace
        if configuration[grace] > .zero, configuration[GatewayKeys.check] == .row {
            others.append(
                ConfigurationError(
                    key: grace.name,
                    problem: "needs \(GatewayKeys.check.name)=stream: by row no answer is there to go by"
                )
            )
        }
        guard configuration.isGiven(replaced) else { return others }
        let fault = ConfigurationError(
            key: replaced,
            problem:
                "is not understood any more: name the networks of your proxies in \(GatewayKeys.trustedProxies.name)"
        )
        return [fault] + others
    }
}
