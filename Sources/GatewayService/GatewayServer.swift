import HTTPJSON
import Logging
import OTLP
import RPC
import RPCTransport
import ServiceKit

/// The program `gateway`: HTTP/JSON for phones and browsers, gRPC to the services.
public struct GatewayServer: ProgramServer {
    /// The program's name.
    public static let programName = GatewayKeys.program
    /// Every key that it reads.
    public static let configurationKeys = GatewayKeys.all
    /// Whether it and all services are ready.
    public static let healthQuestion = HealthQuestion.http(path: "/readyz")

    private let configuration: Configuration

    /// A gateway; nothing is opened yet.
    public init(configuration: Configuration) {
        self.configuration = configuration
    }

    /// Serves until SIGTERM or SIGINT, then lets requests in flight end. Where services are called by TLS, SIGHUP has the
    /// certificates read again.
    ///
    /// The services need not be there yet: requests that need one are answered 503 until it is.
    ///
    /// - Throws: `HTTPListenError` if the address is taken; `TransportError` for a service's address that can be none;
    ///   `ConfigurationFaults` for files of TLS that cannot be used.
    public func serve() async throws {
        Traces.install(configuration, program: Self.programName)
        let signals = ShutdownSignals()
        let reload = GatewayKeys.channels.settings(configuration).tls.map { _ in ReloadSignal() }
        try await serve(stop: { await signals.first() }, reloads: reload?.signals)
    }

    /// Serves until `stop` returns, and reads certificates again at each of `reloads`.
    func serve(
        stop: @escaping @Sendable () async -> Void,
        reloads: AsyncStream<Void>? = nil,
        onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) async throws {
        let settings = try GatewaySettings(configuration)
        try await withEventLoopGroup(loopCount: SharedKeys.loopCount(configuration), name: Self.programName) { group in
            let channelSettings = GatewayKeys.channels.settings(configuration)
            // They end with the loops, when no request is in flight any more.
            let channels = try [SharedKeys.identityAddress, SharedKeys.profileAddress, SharedKeys.invitesAddress].map {
                try RPCChannel(target: configuration[$0].description, group: group, configuration: channelSettings)
            }
            try await serve(settings, channels, group, stop: stop, reloads: reloads, onListening: onListening)
        }
    }

    private func serve(
        _ settings: GatewaySettings,
        _ channels: [RPCChannel],
        _ group: RPCTransport.EventLoopGroup,
        stop: @escaping @Sendable () async -> Void,
        reloads: AsyncStream<Void>?,
        onListening: @escaping @Sendable (_ port: Int) async -> Void
    ) async throws {
        let gateway = Gateway(
            backends: Backends(identity: channels[0], profile: channels[1], invites: channels[2]),
            rateLimit: settings.rateLimit,
            webSignIn: settings.webSignIn,
            dialects: settings.dialects,
            methodsPageAddress: settings.methodsPageAddress
        )
        let logger = Logger(label: Self.programName)
        let configuration = configuration
        let certificates = CertificateMetrics(server: nil, client: GatewayKeys.channels.settings(configuration).tls)
        let reload = CertificateReload(
            logger: logger,
            faults: { GatewayKeys.channels.faults(configuration) },
            reload: {
                for channel in channels { try await channel.reloadCertificates() }
                certificates.refresh()
            }
        )
        async let _: Void = { if let reloads { await reload.run(at: reloads) } }()
        let registry = MetricsRegistry()
        registry.addClients(of: group)
        registry.add(certificates)
        let exporter = try Traces.exporter(Traces.tracer, group: group, logger: logger, metrics: registry)
        async let _: Void = { await exporter?.run() }()
        let routes = gateway.handler(settings.routes, logger: logger, metrics: registry)
        let server = HTTPServer(routes, configuration: settings.edge, group: group, logger: logger)
        let metrics = try ServedMetrics(
            program: Self.programName,
            address: configuration[GatewayKeys.metricsListen],
            registry: registry,
            logger: logger
        )
        async let _: Void = metrics.run()
        try await server.run(stop: stop, onListening: onListening)
        // What is not awaited is cancelled as this returns.
    }
}
