import HTTPJSON
import Logging
import OTLP
import RPC
import RPCTransport
import ServiceKit

/// The program `gateway`: JSON, Connect, gRPC-Web and gRPC for phones and browsers, gRPC to the services.
public struct GatewayServer: ProgramServer {
    /// The program's name.
    public static let programName = GatewayKeys.program
    /// Every key that it reads.
    public static let configurationKeys = GatewayKeys.all
    /// Whether it and all services are ready.
    public static let healthQuestion = HealthQuestion.edge(path: "/readyz")

    private let configuration: Configuration

    /// A gateway; nothing is opened yet.
    public init(configuration: Configuration) {
        self.configuration = configuration
    }

    /// Looks at everything that a valid configuration names.
    public static func examine(_ configuration: Configuration, report: (Finding) -> Void) async {
        var edge: HTTPServer.Configuration?
        let faults = Finding.faults { edge = try GatewaySettings(configuration).edge }
        for finding in faults { report(finding) }
        await examineCommonParts(configuration, report: report)
        guard let edge else { return }
        let chain = GatewayKeys.tls.findings(
            configuration,
            authorities: GatewayKeys.tls.probeAuthorities,
            isForEverybody: true
        )
        let proxies = ProxyExamination(configuration).findings
        for finding in chain + GatewayKeys.channels.findings(configuration) + proxies { report(finding) }
        let limit = edge.transport.fileLimitFinding(
            GatewayKeys.connectionsMax.name,
            loopCount: SharedKeys.loopCount(configuration)
        )
        if let limit { report(limit) }
    }

    /// Serves until SIGTERM or SIGINT. Then it says that it isn't ready, goes on for `VESTIBULE_GATEWAY_DRAIN_DELAY`, and lets
    /// requests in flight end. Where TLS is used, SIGHUP has the certificates read
    /// again.
    ///
    /// The services need not be there yet: requests that need one are answered 503 until it is.
    ///
    /// - Throws: `HTTPListenError` if the address is taken; `TransportError` for a service's address that can be none;
    ///   `ConfigurationErrors` for files of TLS that cannot be used.
    public func serve() async throws {
        Traces.install(configuration, program: Self.programName)
        let crashes = Crashes.begin(configuration, program: Self.programName)
        let signals = ShutdownSignals()
        let usesTLS =
            GatewayKeys.tls.settings(configuration) != nil || GatewayKeys.channels.settings(configuration).tls != nil
        let reload = usesTLS ? ReloadSignal() : nil
        try await serve(stop: { await signals.first() }, reloads: reload?.signals, crashes: crashes)
    }

    /// Serves until `stop` returns, and reads certificates again at each of `reloads`.
    func serve(
        stop: @escaping @Sendable () async -> Void,
        reloads: AsyncStream<Void>? = nil,
        crashes: Crashes = .none,
        onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) async throws {
        var settings = try GatewaySettings(configuration)
        settings.routes.suspend(after: crashes)
        try await withEventLoopGroup(loopCount: SharedKeys.loopCount(configuration), name: Self.programName) { group in
            let channelSettings = GatewayKeys.channels.settings(configuration)
            // They end with the loops, when no request is in flight any more.
            let channels = try [SharedKeys.identityAddress, SharedKeys.profileAddress, SharedKeys.invitesAddress].map {
                try RPCChannel(target: configuration[$0].description, group: group, configuration: channelSettings)
            }
            try await serve(settings, crashes, channels, group, stop: stop, reloads: reloads, onListening: onListening)
        }
    }

    private func serve(
        _ settings: GatewaySettings,
        _ crashes: Crashes,
        _ channels: [RPCChannel],
        _ group: RPCTransport.EventLoopGroup,
        stop: @escaping @Sendable () async -> Void,
        reloads: AsyncStream<Void>?,
        onListening: @escaping @Sendable (_ port: Int) async -> Void
    ) async throws {
        let answers =
            settings.check == .stream
            ? SessionAnswers(
                changes: SessionChanges(),
                group: group,
                outageGrace: settings.outageGrace
            ) : nil
        let gateway = Gateway(
            backends: Backends(identity: channels[0], profile: channels[1], invites: channels[2]),
            rateLimit: settings.rateLimit,
            webSignIn: settings.webSignIn,
            signInPages: settings.signInPages,
            languages: settings.languages,
            dialects: settings.dialects,
            introspectionClients: settings.introspectionClients,
            home: settings.home,
            associations: settings.associations,
            avatars: settings.avatars,
            watchLimits: settings.watchLimits,
            answers: answers,
            keyProofs: settings.proofAddress.map { KeyProofs(address: $0, requiresNonce: settings.proofsNeedNonce) }
        )
        let logger = Logger(label: Self.programName)
        for (tag, count) in settings.languages.missingCounts where count > 0 {
            logger.notice(
                "a language lacks sentences, which are in English",
                metadata: ["language": "\(tag)", "count": "\(count)"]
            )
        }
        let configuration = configuration
        let registry = MetricsRegistry()
        registry.addLoops(of: group, hasServer: true)
        registry.add(gateway.methods.watches)
        registry.add(crashes)
        if let answers { registry.add(answers) }
        async let _: Void = gateway.methods.watches.run(answers: answers, logger: logger)
        let exporter = try Traces.exporter(Traces.tracer, group: group, logger: logger, metrics: registry)
        async let _: Void = { await exporter?.run() }()
        let server = try self.server(
            gateway,
            settings,
            crashes,
            try await settings.edge.inDigits(),
            group,
            logger,
            registry
        )
        async let _: Void = reload(server, channels, at: reloads, logger, registry)
        let metrics = try ServedMetrics(
            program: Self.programName,
            address: configuration[GatewayKeys.metricsListen],
            registry: registry,
            logger: logger
        )
        async let _: Void = metrics.run()
        let delay = configuration[GatewayKeys.drainDelay]
        try await server.run(
            stop: {
                await stop()
                logger.notice("stopping", metadata: ["drain_delay": "\(delay)"])
                await gateway.beginDrain()
                try? await Task.sleep(for: delay)
                gateway.methods.watches.stop()
            },
            onListening: onListening
        )
        // What is not awaited is cancelled as this returns.
    }

    /// The port: gRPC, and all that ``EdgeHandler`` answers.
    private func server(
        _ gateway: Gateway,
        _ settings: GatewaySettings,
        _ crashes: Crashes,
        _ port: HTTPServer.Configuration,
        _ group: RPCTransport.EventLoopGroup,
        _ logger: Logger,
        _ registry: MetricsRegistry
    ) throws -> HTTPServer {
        let address = configuration[GatewayKeys.listen]
        let tracing = Traces.tracer.map { ServerTracing($0, address: address.host, port: address.port) }
        let router = try gateway.router(
            timeLimit: port.limits.requestTimeout,
            logger: logger,
            metrics: registry,
            interceptors: tracing.map { [$0] } ?? [],
            reflection: configuration[SharedKeys.reflection],
            suspended: crashes.suspendedMethods
        )
        let edge = gateway.edge(router, settings.routes, port.limits, logger: logger, metrics: registry)
        return HTTPServer(edge, router: router, configuration: port, group: group, logger: logger)
    }

    /// Reads certificates again at each signal.
    private func reload(
        _ server: HTTPServer,
        _ channels: [RPCChannel],
        at reloads: AsyncStream<Void>?,
        _ logger: Logger,
        _ registry: MetricsRegistry
    ) async {
        let configuration = configuration
        let certificates = CertificateMetrics(
            server: GatewayKeys.tls.settings(configuration),
            client: GatewayKeys.channels.settings(configuration).tls
        )
        registry.add(certificates)
        guard let reloads else { return }
        let reload = CertificateReload(
            logger: logger,
            faults: {
                GatewayKeys.tls.faultsOfEdge(configuration) + GatewayKeys.channels.faults(configuration)
            },
            reload: {
                try await server.reloadCertificates()
                for channel in channels { try await channel.reloadCertificates() }
                certificates.refresh()
            }
        )
        await reload.run(at: reloads)
    }
}
