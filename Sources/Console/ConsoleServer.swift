import API
import HTTPJSON
import JOSE
import Logging
import OutgoingHTTP
import RPC
import RPCTransport
import ServiceKit
import WebPages

/// The console: pages by which operators find accounts, act on them, and see how the system does. `vestibule console` starts it.
public struct ConsoleServer: ProgramServer {
    /// The program's name.
    public static let programName = ConsoleKeys.program
    /// Every key that it reads.
    public static let configurationKeys = ConsoleKeys.all
    /// Whether it serves.
    public static let healthQuestion = HealthQuestion.edge(path: "/healthz")

    private let configuration: Configuration

    /// A console; nothing is opened yet.
    public init(configuration: Configuration) { self.configuration = configuration }

    /// Serves until SIGTERM or SIGINT, then lets requests in flight end. Sessions of browsers end with it. Where TLS is used, SIGHUP has the
    /// certificates read again.
    ///
    /// - Throws: `HTTPListenError` if the address is taken; `ConfigurationErrors`; `TransportError` for identity's address.
    public func serve() async throws {
        let signals = ShutdownSignals()
        let usesTLS =
            ConsoleKeys.tls.settings(configuration) != nil || ConsoleKeys.channels.settings(configuration).tls != nil
        let reload = usesTLS ? ReloadSignal() : nil
        try await serve(stop: { await signals.first() }, reloads: reload?.signals)
    }

    /// Serves until `stop` returns, and reads certificates again at each of `reloads`.
    func serve(
        stop: @escaping @Sendable () async -> Void,
        reloads: AsyncStream<Void>? = nil,
        onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) async throws {
        let settings = try ConsoleSettings(configuration)
        let logger = Logger(label: Self.programName)
        let operators: OperatorsFile
        do throws(ConfigurationProblem) {
            operators = try OperatorsFile(settings.operatorsFile, logger: logger)
        } catch {
            throw ConfigurationErrors([ConfigurationError(key: ConsoleKeys.operators.name, problem: error.text)])
        }
        let configuration = configuration
        let edge = try await settings.edge.inDigits()
        try await withEventLoopGroup(loopCount: 1, name: Self.programName) { group in
            let channel = try RPCChannel(
                target: configuration[SharedKeys.identityAddress].description,
                group: group,
                configuration: ConsoleKeys.channels.settings(configuration)
            )
            let http = HTTPSClient(userAgent: "vestibule-console", group: group)
            let history = MetricsHistory()
            let console = Console(
                settings: settings,
                operators: operators,
                identity: OperatorServiceClient(channel),
                provider: settings.provider.map { OpenIDProvider($0, http: http) },
                history: history,
                logger: logger
            )
            let reader = MetricsReader(targets: settings.targets, history: history)
            async let _: Void = reader.run()
            // For `healthcheck` where the port speaks TLS.
            let health = HealthService(services: [])
            health.setReady(true)
            var router = Router()
            router.add(health)
            let server = HTTPServer(
                console.handler,
                router: router,
                configuration: edge,
                group: group,
                logger: logger
            )
            async let _: Void = Self.reload(server, channel, at: reloads, configuration, logger)
            try await server.run(
                stop: stop,
                onListening: { port in
                    logger.notice("open the console", metadata: ["url": "\(settings.origin.text)"])
                    await onListening(port)
                }
            )
            // What is not awaited is cancelled as this returns.
        }
    }

    private static func reload(
        _ server: HTTPServer,
        _ channel: RPCChannel,
        at reloads: AsyncStream<Void>?,
        _ configuration: Configuration,
        _ logger: Logger
    ) async {
        guard let reloads else { return }
        let reload = CertificateReload(
            logger: logger,
            faults: { ConsoleKeys.tls.faultsOfEdge(configuration) + ConsoleKeys.channels.faults(configuration) },
            reload: {
                try await server.reloadCertificates()
                try await channel.reloadCertificates()
            }
        )
        await reload.run(at: reloads)
    }
}
