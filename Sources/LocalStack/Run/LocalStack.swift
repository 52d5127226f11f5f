import Backup
import Glibc
import LocalPostgres
import ServiceKit

/// The whole system on one machine: a private PostgreSQL, the provider simulator, three services and the gateway. Each is
/// a separate process. The processes are started in order, watched, and stopped in order.
public struct LocalStack: Sendable {
    private let configuration: Configuration
    let plan: StackPlan
    let folder: StackFolder
    let console = StackConsole()

    /// A stack that isn't started yet.
    ///
    /// - Parameters:
    ///   - configuration: read with `StackKeys.all`.
    ///   - configurationPath: the file given with `--config`, which the programs read as well.
    ///   - environment: this process's variables, which the programs get too.
    public init(configuration: Configuration, configurationPath: String?, environment: [String: String]) throws {
        self.configuration = configuration
        folder = StackFolder(path: StackPlan.absolute(configuration[StackKeys.folder]))
        plan = try StackPlan(
            configuration: configuration,
            configurationPath: configurationPath,
            environment: environment,
            folder: folder
        )
    }

    /// Runs until Ctrl-C or SIGTERM, then stops everything. After the start, a program that ends is started again, after a wait that
    /// grows. Throws one line if the stack can't start, if PostgreSQL ends, or if a program reports errors in its configuration;
    /// then everything is stopped as well. A second signal kills the remaining programs.
    public func run() async throws {
        let programs = RunningPrograms()
        let signals = ShutdownSignals(onSecond: {
            programs.killAll()
            Program.end("killed", code: 130)
        })
        // Watched to the end, so that a second Ctrl-C works during the stop.
        defer { withExtendedLifetime(signals) {} }
        let lock = try folder.lock()
        defer { close(lock) }
        for file in try prepare() { console.say("made \(StackFolder.shown(file))") }
        try await withDatabase { cluster in
            do {
                try await serve(programs, cluster, signals)
            } catch {
                await stop(programs)
                throw error
            }
            await stop(programs)
        }
        console.say("stopped")
    }

    /// Checks that all programs are there and their ports are free, and makes the folder with its secrets. The caller holds the folder's lock.
    ///
    /// - Returns: the new files.
    func prepare() throws -> [String] {
        for program in plan.programs {
            guard access(program.command[0], X_OK) == 0 else {
                throw StackError("\(program.command[0]) is missing; `make build` makes it")
            }
            try PortCheck.requireFree(program.address, for: program.name, key: program.addressKey)
        }
        let made = try folder.initialize()
        try folder.write(plan.providers)
        return made
    }

    func withDatabase(
        startLimitSeconds: Double = LocalCluster.startLimitSeconds,
        _ body: (LocalCluster) async throws -> Void
    ) async throws {
        let cluster: LocalCluster
        do {
            cluster = try LocalCluster.start(directory: folder.database, limitSeconds: startLimitSeconds)
        } catch LocalPostgresError.alreadyRunning {
            throw StackError("it is already running: another process uses \(folder.database)")
        }
        defer { cluster.stop() }
        try cluster.createDatabase(StackPlan.databaseName)
        for service in StackKeys.services {
            let password = try FileBytes.read(folder.databasePassword(of: service.program), bytesMax: 1024)
            let ownerPassword = try FileBytes.read(folder.databaseOwnerPassword(of: service.program), bytesMax: 1024)
            try cluster.createServiceRoles(
                name: StackPlan.role(of: service.program),
                password: String(decoding: password, as: UTF8.self),
                owner: StackPlan.owner(of: service.program),
                ownerPassword: String(decoding: ownerPassword, as: UTF8.self),
                schema: service.program,
                database: StackPlan.databaseName
            )
        }
        let backupPassword = try FileBytes.read(folder.backupPassword, bytesMax: 1024)
        try cluster.createBackupRole(
            name: BackupKeys.roleDefault,
            password: String(decoding: backupPassword, as: UTF8.self),
            database: StackPlan.databaseName
        )
        try cluster.closeToStrangers()
        console.progress("postgresql", "ready", StackFolder.shown(folder.database))
        try await body(cluster)
    }

    private func serve(_ programs: RunningPrograms, _ cluster: LocalCluster, _ signals: ShutdownSignals) async throws {
        let environment = self.environment(of: cluster)
        try OperatorEnvironment.write(environment, entries: plan.configurationEntries(), to: folder.operatorEnvironment)
        defer { unlink(folder.operatorEnvironment) }
        guard try await start(programs, cluster, isStopped: { signals.wasReceived }) else { return }
        console.say(plan.greeting)
        var restarts = ProgramRestarts()
        while !signals.wasReceived {
            for ended in programs.ended {
                guard ended.program.exitStatus != EX_CONFIG else { throw ended.error }
                switch restarts.next(ended.plan.name, now: .now) {
                case .announce(let wait):
                    console.say(
                        "\(ended.plan.name) \(ended.ending); it is started again in \(StackConsole.seconds(wait))"
                    )
                case .wait: continue
                case .start: try programs.restart(ended, environment: environment, console: console)
                }
            }
            guard cluster.isRunning else {
                throw StackError("PostgreSQL ended by itself; its log is \(folder.database)/server.log")
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
        console.say("stopping")
    }

    /// The variables of the programs, with that cluster.
    func environment(of cluster: LocalCluster) -> [String: String] {
        plan.environment(socketDirectory: cluster.socketDirectory, port: cluster.port)
    }

    /// Applies migrations, starts all programs and waits until they are ready; false if a stop was requested first.
    func start(
        _ programs: RunningPrograms,
        _ cluster: LocalCluster,
        isStopped: () -> Bool
    ) async throws -> Bool {
        let environment = environment(of: cluster)
        for program in plan.programs where program.hasTables {
            if isStopped() { return false }
            try await migrate(program, environment)
        }
        console.progress("migrations", "applied", "")
        for program in plan.programs where !isStopped() {
            try programs.start(program, environment: environment, console: console, folder: folder)
        }
        return try await waitUntilReady(programs, isStopped)
    }

    func migrate(_ program: PlannedProgram, _ environment: [String: String]) async throws {
        _ = try await runToEnd(program.migration, environment, limit: .seconds(120))
    }

    /// Runs a program that ends by itself; throws if it fails, takes longer or a stop was requested.
    func runToEnd(
        _ program: PlannedProgram,
        _ environment: [String: String],
        limit: Duration,
        isStopped: () -> Bool = { false }
    ) async throws -> RunningPrograms.Entry {
        let programs = RunningPrograms()
        try programs.start(program, environment: environment, console: console, folder: folder)
        guard let ended = await programs.waitForFirst(limit: limit, isStopped: isStopped) else {
            programs.killAll()
            throw StackError("\(program.name) took longer than \(limit.components.seconds) s")
        }
        if ended.program.exitStatus != 0 { throw ended.error }
        return ended
    }

    /// Waits until all programs are ready; false if a stop was requested first.
    private func waitUntilReady(_ programs: RunningPrograms, _ isStopped: () -> Bool) async throws -> Bool {
        let limit = ContinuousClock.now + configuration[StackKeys.readyLimit]
        var waiting = plan.programs
        while !waiting.isEmpty {
            if isStopped() { return false }
            try programs.requireAllRunning()
            guard ContinuousClock.now < limit else {
                let names = waiting.map(\.name).joined(separator: ", ")
                throw StackError("not ready in time: \(names); logs are in \(folder.logs)")
            }
            let ready = await withTaskGroup(of: String?.self) { group in
                for program in waiting { group.addTask { await program.isReady() ? program.name : nil } }
                return await group.reduce(into: Set<String>()) { ready, name in if let name { ready.insert(name) } }
            }
            for program in waiting where ready.contains(program.name) {
                console.progress(program.name, "ready", program.url)
            }
            waiting.removeAll { ready.contains($0.name) }
            if !waiting.isEmpty { try? await Task.sleep(for: .milliseconds(50)) }
        }
        return true
    }

    /// Stops the gateway first, so that no outside call reaches a stopped service; then the others.
    func stop(_ programs: RunningPrograms) async {
        await programs.stop { $0 == "gateway" }
        await programs.stop { _ in true }
    }
}
