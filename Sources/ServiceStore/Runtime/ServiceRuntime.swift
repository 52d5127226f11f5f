import FoundationEssentials
import Logging
import Postgres
import RPC
import RPCTransport
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Everything around a gRPC service: loops, database, migrations, health, reflection, call log, and the way from start
/// to a graceful stop.
public struct ServiceRuntime: Sendable {
    let keys: ServiceKeys
    let configuration: Configuration
    let migrations: [Migration]

    /// A runtime, which does nothing yet.
    ///
    /// - Parameters:
    ///   - keys: the service's keys.
    ///   - configuration: read with at least those keys.
    ///   - migrations: of the service's schema, in order.
    public init(keys: ServiceKeys, configuration: Configuration, migrations: [Migration]) {
        self.keys = keys
        self.configuration = configuration
        self.migrations = migrations
    }

    /// Brings the service's schema up to date. One that is newer than this program stays as it is.
    public func migrate() async throws {
        let faults = configuration.databaseSessionFaults
        guard faults.isEmpty else { throw ConfigurationErrors(faults) }
        let outcome = try await Migrator(migrationConfiguration)
            .run(migrations, schema: configuration[keys.databaseSchema])
        let logger = Logger(label: keys.program)
        logger.notice("migrated", metadata: ["applied": .stringConvertible(outcome.applied.count)])
        if !outcome.validated.isEmpty {
            logger.notice("validated", metadata: ["constraints": "\(outcome.validated.joined(separator: ", "))"])
        }
        if !outcome.notValidated.isEmpty {
            logger.warning(
                "constraints couldn't be validated; the next migrate tries again",
                metadata: ["constraints": "\(outcome.notValidated.joined(separator: ", "))"]
            )
        }
        if let newer = outcome.newerNumber {
            logger.warning(
                "the schema is newer than this program, which goes on with it",
                metadata: ["schema": "\(newer)", "program": "\(migrations.count)"]
            )
        }
    }

    /// Runs a closure with the service's database, as its role, while nothing is served: for an operator's commands.
    ///
    /// - Parameter timeout: how long a statement may take; nil for the configured time.
    public func withDatabase<Outcome>(
        timeout: Duration? = nil,
        _ body: (PostgresClient) async throws -> Outcome
    ) async throws -> Outcome {
        var configuration = databaseConfiguration(connectionsPerLoop: 1)
        if let timeout {
            configuration.queryTimeout = timeout
            configuration.statementTimeout = timeout
        }
        return try await withEventLoopGroup(loopCount: 1, name: keys.program) { [configuration] group in
            try await withPostgresClient(configuration, group: group, body)
        }
    }

    /// Serves until SIGTERM or SIGINT, then drains and returns. Anything that keeps the service from starting is thrown.
    /// With TLS, SIGHUP has the certificates read again.
    ///
    /// - Parameters:
    ///   - rereads: whether the parts have something to read again at SIGHUP. If they don't, and there is no TLS, SIGHUP ends
    ///     the process.
    ///   - build: makes the service's parts. The migrations are applied by then, if the configuration says so; the database
    ///     client connects when it is first used, or else once everything runs.
    public func serve(
        rereads: Bool = false,
        _ build: (ServiceEnvironment) async throws -> ServiceParts
    ) async throws {
        Traces.install(configuration, program: keys.program)
        let crashes = Crashes.begin(configuration, program: keys.program)
        let signals = ShutdownSignals()
        let reload = usesTLS || rereads ? ReloadSignal() : nil
        try await serve(build, until: { await signals.first() }, reloads: reload?.signals, crashes: crashes)
    }

    /// Serves until `stop` returns; tells the port once it listens, and reads files again at each of `reloads`.
    func serve(
        _ build: (ServiceEnvironment) async throws -> ServiceParts,
        until stop: @escaping @Sendable () async -> Void,
        reloads: AsyncStream<Void>? = nil,
        crashes: Crashes = .none,
        onListening: (Int) -> Void = { _ in }
    ) async throws {
        let faults = faults
        guard faults.isEmpty else { throw ConfigurationErrors(faults) }
        let logger = Logger(label: keys.program)
        if let warning = Exposure(keys: keys, configuration: configuration).warning {
            logger.warning("exposed", metadata: ["problem": .string(warning)])
        }
        try await withEventLoopGroup(loopCount: SharedKeys.loopCount(configuration), name: keys.program) { group in
            let environment = environment(group, logger)
            if configuration[keys.migrate] { try await migrate() }
            try await requireSchema(environment.database)
            let parts = try await build(environment)
            let (router, health) = try router(parts, environment, crashes)
            let server = RPCServer(
                group: group,
                router: router,
                http: keys.port.handler(configuration, router),
                configuration: serverConfiguration
            )
            let exporter = try Traces.exporter(
                Traces.tracer,
                group: group,
                logger: logger,
                metrics: environment.metrics
            )
            environment.metrics.add(crashes)
            let metrics = try serveMetrics(environment, server)
            let port = try await server.start()
            let address = HostPort(host: configuration[keys.listen].host, port: port)
            if server.connectionsMax < serverConfiguration.connectionsMax {
                logger.warning(
                    "fewer connections than configured: the limit of open files is too low",
                    metadata: [
                        "connections": "\(server.connectionsMax)",
                        "configured": "\(serverConfiguration.connectionsMax)",
                    ]
                )
            }
            logger.notice("listening", metadata: ["address": "\(address)"])
            onListening(port)
            let serving = ServingServer(server: server, health: health, beginDrain: parts.beginDrain, logger: logger)
            let exporters: [any Service] = exporter.map { [$0] } ?? []
            // Told to stop from the last to the first, each when the one behind it has ended.
            let services: [any Service] =
                exporters + [environment.database] + environment.channels.channels + [metrics]
                + storageMetrics(environment)
                + [reread(parts, environment, server, reloads), readinessProbe(environment, health)]
                + parts.background.map { LoopService(service: $0, loop: group.next()) } + [serving]
            try await run(services, until: stop)
            logger.notice("stopped")
        }
    }

    /// Runs the services until SIGINT or SIGTERM, and then until they have ended. One that throws ends all of them
    /// at once.
    private func run(_ services: [any Service], until stop: @escaping @Sendable () async -> Void) async throws {
        typealias Member = ServiceGroupConfiguration.ServiceConfiguration
        let isStopping = StopFlag()
        let logger = Logger(label: keys.program)
        let members = services.map {
            Member(service: UntilStopped(service: $0, isStopping: isStopping, logger: logger))
        }
        let stopping = Member(
            service: BackgroundWork {
                await stop()
                isStopping.set()
            },
            successTerminationBehavior: .gracefullyShutdownGroup
        )
        // What it would log, we log or throw.
        let silent = Logger(label: keys.program) { _ in SwiftLogNoOpLogHandler() }
        let configuration = ServiceGroupConfiguration(services: members + [stopping], logger: silent)
        try await ServiceGroup(configuration: configuration).run()
    }

    private func environment(_ group: EventLoopGroup, _ logger: Logger) -> ServiceEnvironment {
        ServiceEnvironment(
            group: group,
            database: PostgresClient(
                databaseConfiguration(connectionsPerLoop: configuration[keys.databaseConnections]),
                group: group
            ),
            logger: logger,
            metrics: MetricsRegistry(),
            isMeasured: configuration[keys.metricsListen] != nil,
            certificates: CertificateMetrics(
                server: keys.tls.settings(configuration),
                client: keys.channels.settings(configuration).tls
            ),
            channelSettings: keys.channels.settings(configuration),
            channels: ChannelList()
        )
    }

    private func router(
        _ parts: ServiceParts,
        _ environment: ServiceEnvironment,
        _ crashes: Crashes
    ) throws -> (Router, HealthService) {
        var router = Router(
            interceptors: interceptors(environment) + parts.interceptors,
            makesOnwardCalls: environment.channels.isForHandlers,
            suspended: crashes.suspendedMethods
        )
        for service in parts.services { router.add(service) }
        let health = HealthService(services: router.services)
        router.add(health)
        environment.metrics.add(health)
        if configuration[SharedKeys.reflection] { router.add(try ReflectionService(services: router.services)) }
        return (router, health)
    }

    /// What each call passes: its span, the log, and who may call what.
    private func interceptors(_ environment: ServiceEnvironment) -> [any ServerInterceptor] {
        let address = configuration[keys.listen]
        let tracing = Traces.tracer.map { ServerTracing($0, address: address.host, port: address.port) }
        let log = CallLog(logger: environment.logger, calls: configuration[SharedKeys.logCalls], tracer: Traces.tracer)
        let all: [(any ServerInterceptor)?] = [tracing, log, configuration[keys.tls.allowList]]
        return all.compactMap { $0 }
    }

    private func reread(
        _ parts: ServiceParts,
        _ environment: ServiceEnvironment,
        _ server: RPCServer,
        _ reloads: AsyncStream<Void>?
    ) -> BackgroundWork {
        let reload = CertificateReload(logger: environment.logger, faults: { tlsFaults }) {
            try await server.reloadCertificates()
            try await environment.channels.reloadCertificates()
            environment.certificates.refresh()
        }
        let certificates: CertificateReload? = usesTLS ? reload : nil
        return BackgroundWork {
            guard let reloads else { return }
            for await _ in reloads {
                await certificates?.run()
                await parts.reread()
            }
        }
    }

    /// Whether the tables are those that this program needs, before anything uses them. A database that doesn't answer yet is
    /// asked again when it does, by the readiness probe.
    ///
    /// - Throws: `MigrationError` that says what is wrong.
    private func requireSchema(_ database: PostgresClient) async throws {
        do {
            try await schemaCheck.run(on: database, deadline: .after(.seconds(2)))
        } catch is PostgresError {}
    }

    /// A check of the tables.
    var schemaCheck: SchemaCheck { SchemaCheck(migrations, schema: configuration[keys.databaseSchema]) }

    private func storageMetrics(_ environment: ServiceEnvironment) -> [any Service] {
        guard environment.isMeasured else { return [] }
        let storage = DatabaseStorageMetrics(environment.database, logger: environment.logger)
        environment.metrics.add(storage)
        return [BackgroundWork { await storage.watch() }]
    }

    private func readinessProbe(_ environment: ServiceEnvironment, _ health: HealthService) -> BackgroundWork {
        let database = environment.database
        let watch = DatabaseWatch(database, logger: environment.logger) {
            Int64(Date().timeIntervalSince1970 * 1000)
        }
        environment.metrics.add(watch)
        let schema = schemaCheck
        // Asked for until it is so: nobody takes migrations back while a program runs.
        let hasSchema = Mutex(migrations.isEmpty)
        let probe = ReadinessProbe(health: health, logger: environment.logger) {
            let deadline = Deadline.after(.seconds(1))
            if !hasSchema.withLock({ $0 }) {
                try await schema.run(on: database, deadline: deadline)
                hasSchema.withLock { $0 = true }
            }
            try await watch.check(deadline: deadline)
        }
        return BackgroundWork { try await probe.run() }
    }
}
