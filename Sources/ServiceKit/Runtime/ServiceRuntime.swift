import Glibc
import Logging
import Postgres
import RPC
import RPCTransport
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
        let outcome = try await Migrator(migrationConfiguration)
            .run(migrations, schema: configuration[keys.databaseSchema])
        let logger = Logger(label: keys.program)
        logger.notice("migrated", metadata: ["applied": .stringConvertible(outcome.applied.count)])
        if let newer = outcome.newerNumber {
            logger.warning(
                "the schema is newer than this program, which goes on with it",
                metadata: ["schema": "\(newer)", "program": "\(migrations.count)"]
            )
        }
    }

    /// Runs a body with the service's database and nothing else: for commands that people give.
    public func withDatabase<R: Sendable>(_ body: (PostgresClient) async throws -> R) async throws -> R {
        let group = try EventLoopGroup(loopCount: 1, name: keys.program)
        let database = PostgresClient(databaseConfiguration(connectionsPerLoop: 1), group: group)
        let result: Result<R, any Error>
        do { result = .success(try await body(database)) } catch { result = .failure(error) }
        await database.shutdown()
        await group.shutdown()
        return try result.get()
    }

    /// Serves until SIGTERM or SIGINT, then drains and returns. Anything that keeps the service from starting is thrown.
    /// With TLS, SIGHUP has the certificates read again.
    ///
    /// - Parameter build: makes the service's parts, once the database client runs and migrations are applied.
    public func serve(_ build: (ServiceEnvironment) async throws -> ServiceParts) async throws {
        Traces.install(configuration, program: keys.program)
        let signals = ShutdownSignals()
        let reload = usesTLS ? ReloadSignal() : nil
        try await serve(build, until: { await signals.first() }, reloads: reload?.signals)
    }

    /// Serves until `stop` returns; tells the port once it listens, and reads certificates again at each of `reloads`.
    func serve(
        _ build: (ServiceEnvironment) async throws -> ServiceParts,
        until stop: @escaping @Sendable () async -> Void,
        reloads: AsyncStream<Void>? = nil,
        onListening: (Int) -> Void = { _ in }
    ) async throws {
        let exposure = Exposure(keys: keys, configuration: configuration)
        let faults = exposure.faults + tlsFaults + TraceKeys.faults(configuration)
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        let logger = Logger(label: keys.program)
        if let warning = exposure.warning { logger.warning("exposed", metadata: ["problem": .string(warning)]) }
        let loopCount = configuration[SharedKeys.eventLoops]
        let group = try EventLoopGroup(loopCount: loopCount == 0 ? Self.coreCount : loopCount, name: keys.program)
        let environment = ServiceEnvironment(
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
        let result = await Self.outcome { try await serve(environment, build, until: stop, reloads, onListening) }
        await environment.channels.close()
        await environment.database.shutdown()
        await group.shutdown()
        try result.get()
    }

    private func serve(
        _ environment: ServiceEnvironment,
        _ build: (ServiceEnvironment) async throws -> ServiceParts,
        until stop: @escaping @Sendable () async -> Void,
        _ reloads: AsyncStream<Void>?,
        _ onListening: (Int) -> Void
    ) async throws {
        if configuration[keys.migrate] { try await migrate() }
        environment.database.start()
        let parts = try await build(environment)
        var router = Router(
            interceptors: interceptors(environment),
            makesOnwardCalls: !environment.channels.isEmpty
        )
        for service in parts.services { router.add(service) }
        let health = HealthService(services: router.services)
        router.add(health)
        if configuration[SharedKeys.reflection] { router.add(try ReflectionService(services: router.services)) }

        let address = configuration[keys.listen]
        let server = RPCServer(group: environment.group, router: router, configuration: serverConfiguration)
        let export = try Traces.exporting(
            Traces.tracer,
            group: environment.group,
            logger: environment.logger,
            metrics: environment.metrics
        )
        let metrics = try serveMetrics(environment, server)
        let port: Int
        do {
            port = try await server.start()
        } catch {
            await metrics.stop()
            throw error
        }
        environment.logger.notice(
            "listening",
            metadata: ["address": "\(HostPort(host: address.host, port: port))"]
        )
        onListening(port)
        let background =
            parts.background + [
                export, readinessProbe(environment, health), certificateReload(environment, server, reloads),
            ]
        let outcome = await Self.outcome {
            try await run(background, on: environment.group, until: stop) {
                environment.logger.notice("stopping")
                health.beginDrain()
                await server.drain()
            }
        }
        await server.shutdown()
        await metrics.stop()
        try outcome.get()
        environment.logger.notice("stopped")
    }

    /// What each call passes: its span, the log, and who may call what.
    private func interceptors(_ environment: ServiceEnvironment) -> [any ServerInterceptor] {
        let address = configuration[keys.listen]
        let tracing = Traces.tracer.map { ServerTracing($0, address: address.host, port: address.port) }
        let log = CallLog(logger: environment.logger, calls: configuration[SharedKeys.logCalls], tracer: Traces.tracer)
        let all: [(any ServerInterceptor)?] = [tracing, log, configuration[keys.tls.allowList]]
        return all.compactMap { $0 }
    }

    private func certificateReload(
        _ environment: ServiceEnvironment,
        _ server: RPCServer,
        _ reloads: AsyncStream<Void>?
    ) -> @Sendable () async throws -> Void {
        guard let reloads else { return {} }
        let reload = CertificateReload(logger: environment.logger, faults: { tlsFaults }) {
            try await server.reloadCertificates()
            try await environment.channels.reloadCertificates()
            environment.certificates.refresh()
        }
        return { await reload.run(at: reloads) }
    }

    private enum Event { case stopAsked, workDone }

    /// Runs the work until the process is told to stop; then drains, and cancels the work. Work that throws ends
    /// everything.
    private func run(
        _ background: [@Sendable () async throws -> Void],
        on group: EventLoopGroup,
        until stop: @escaping @Sendable () async -> Void,
        drain: () async -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Event.self) { tasks in
            for work in background {
                tasks.addTask(executorPreference: group.next()) {
                    try await work()
                    return .workDone
                }
            }
            tasks.addTask {
                await stop()
                return .stopAsked
            }
            defer { tasks.cancelAll() }
            while let event = try await tasks.next() {
                if event == .stopAsked { return await drain() }
            }
        }
    }

    private func readinessProbe(
        _ environment: ServiceEnvironment,
        _ health: HealthService
    ) -> @Sendable () async throws -> Void {
        let database = environment.database
        let schema = SchemaCheck(migrations, schema: configuration[keys.databaseSchema])
        // Asked for until it is so: nobody takes migrations back while a program runs.
        let hasSchema = Mutex(migrations.isEmpty)
        let probe = ReadinessProbe(health: health, logger: environment.logger) {
            let deadline = Deadline.after(.seconds(1))
            if hasSchema.withLock({ $0 }) { return try await database.ping(deadline: deadline) }
            try await schema.run(on: database, deadline: deadline)
            hasSchema.withLock { $0 = true }
        }
        return { await probe.run() }
    }

    /// What the work came to, so that everything can be closed before it is told.
    private static func outcome(_ work: () async throws -> Void) async -> Result<Void, any Error> {
        do { return .success(try await work()) } catch { return .failure(error) }
    }

    private static var coreCount: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
}
