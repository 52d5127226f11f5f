import Backup
import FoundationEssentials
import Glibc
import JOSE
import LocalPostgres
import RPCTransport
import ServiceKit
import Synchronization

/// A rehearsal of the loss of a database, in a folder and on ports of its own: fills a stack with accounts, follows it with backups,
/// destroys its database under load, restores it, and compares what is there with what was acknowledged. Or, for the backups of
/// another system: restores them, and starts the services on them.
public struct Drill: Sendable {
    /// What to do.
    public struct Plan: Sendable {
        /// The folder; it must be missing or empty, or left by an earlier drill.
        public var folder: String
        /// How many accounts there are before the load, 1 to 9,999,999.
        public var accounts = 10_000
        /// How many phones make calls at the same time, 1 to 32.
        public var phones = 16
        /// How long they call before the database is destroyed.
        public var loadTime = Duration.seconds(10)
        /// How long after the files are back the services may take to answer.
        public var servingMax = Duration.seconds(60)
        /// Whether the folder stays.
        public var isKept = false
        /// The backups of another system to restore; nil to make some.
        public var backups: BackupFolder?
        /// Which of them: nil for the newest that was complete at the time.
        public var backup: String?
        /// Up to when; nil for all that was received.
        public var time: Date?

        /// A plan with these defaults.
        public init(folder: String) { self.folder = folder }
    }

    /// How many accounts a drill may have.
    public static let accountCounts = 1...DrillAccounts.countMax
    /// How many phones.
    public static let phoneCounts = 1...DrillPhones.countMax

    private static let importLimit = Duration.seconds(4 * 3600)
    private static let firstBackupLimit = Duration.seconds(4 * 3600)
    private static let pollInterval = Duration.milliseconds(20)

    private let plan: Plan
    private let folder: DrillFolder
    private let stack: LocalStack
    private let configuration: Configuration
    private let console: StackConsole

    /// Plans a drill; nothing is made yet. Only `VESTIBULE_RUN_PROGRAMS` of this process's variables counts: none of a deployment can
    /// lead it to a database that it didn't make.
    public init(_ plan: Plan, environment: [String: String]) throws {
        self.plan = plan
        folder = DrillFolder(stack: StackFolder(path: StackPlan.absolute(plan.folder)))
        var own = environment.filter { !$0.key.hasPrefix(ConfigurationNames.prefix) }
        own[StackKeys.programs.name] = environment[StackKeys.programs.name]
        own[StackKeys.folder.name] = folder.stack.path
        let names = [StackKeys.gateway.name, StackKeys.simulator.name] + StackKeys.services.map(\.listen.name)
        for (name, address) in zip(names, try LoopbackPorts.free(count: names.count)) { own[name] = "\(address)" }
        // All phones have one address.
        for name in ["VESTIBULE_GATEWAY_AUTH_PER_SECOND", "VESTIBULE_GATEWAY_AUTH_BURST"] { own[name] = "1000000" }
        configuration = try Configuration.load(keys: StackKeys.all, program: "run", path: nil, environment: own)
        stack = try LocalStack(configuration: configuration, configurationPath: nil, environment: own)
        console = stack.console
    }

    /// Runs it to its end. The folder is deleted at the end, also of a drill that failed, unless the plan keeps it.
    ///
    /// - Parameter isStopped: asked often; then everything is stopped and an error thrown.
    public func run(isStopped: @escaping @Sendable () -> Bool) async throws -> DrillReport {
        try folder.make()
        do {
            let report = try await rehearse(isStopped)
            if plan.isKept { console.say("kept \(StackFolder.shown(folder.stack.path))") } else { try folder.remove() }
            return report
        } catch {
            if !plan.isKept { try? folder.remove() }
            throw error
        }
    }

    private func rehearse(_ isStopped: @escaping @Sendable () -> Bool) async throws -> DrillReport {
        let lock = try folder.stack.lock()
        defer { close(lock) }
        _ = try stack.prepare()
        try folder.requireSpace(accounts: plan.accounts)
        return try await withEventLoopGroup(loopCount: 1, name: "drill") { group in
            let app = DemoApp(configuration: configuration, group: group)
            let phones = DrillPhones(app: app, count: plan.phones)
            var loss: Loss?
            if plan.backups == nil { loss = try await loseDatabase(phones, isStopped) }
            return try await recover(phones, loss, isStopped)
        }
    }

    /// The state when the database was destroyed.
    private struct Loss: Sendable {
        let marker: String
        let accounts: Int
        let entries: [DrillLedger.Entry]
        let destroyedAt: ContinuousClock.Instant
    }

    /// Fills a stack with accounts, makes backups, and destroys the database under load.
    private func loseDatabase(
        _ phones: DrillPhones,
        _ isStopped: @escaping @Sendable () -> Bool
    ) async throws -> Loss {
        let marker = UUID().uuidString.lowercased()
        let loss = Mutex<Loss?>(nil)
        try await stack.withDatabase { cluster in
            let database = DrillDatabase(cluster: cluster)
            try database.mark(marker)
            try await serving(cluster, isStopped) {
                try await importAccounts(cluster, isStopped)
                let accounts = try database.accountCount()
                guard accounts >= plan.accounts else { throw StackError("only \(accounts) accounts were imported") }
                let ledger = DrillLedger()
                let destroyedAt = try await followed(cluster, isStopped) {
                    console.say("\(plan.phones) phones call for \(StackConsole.seconds(plan.loadTime))")
                    let calls = Task { await phones.call(ledger) }
                    defer { calls.cancel() }
                    try await wait(for: plan.loadTime, isStopped)
                    guard try database.isMarked(marker) else {
                        throw StackError("the database has no marker row of this drill; it was left alone")
                    }
                    let now = ContinuousClock.now
                    try cluster.destroy()
                    console.say("destroyed the database under load")
                    return now
                }
                let entries = await ledger.entries
                loss.withLock {
                    $0 = Loss(marker: marker, accounts: accounts, entries: entries, destroyedAt: destroyedAt)
                }
            }
        }
        guard let loss = loss.withLock({ $0 }) else { throw StackError("the drill did not end") }
        return loss
    }

    /// Restores the database, starts the services on it and compares.
    private func recover(
        _ phones: DrillPhones,
        _ loss: Loss?,
        _ isStopped: @escaping @Sendable () -> Bool
    ) async throws -> DrillReport {
        let backups = plan.backups ?? folder.backups
        let restore = try DataFolderRestore(from: backups, backup: plan.backup, to: plan.time)
        let began = ContinuousClock.now
        var written = began
        let restored = try await stack.replaceDatabase(restore, deletedAccounts: backups.deletedAccounts) {
            written = ContinuousClock.now
        }
        let report = Mutex<DrillReport?>(nil)
        try await stack.withDatabase { cluster in
            let database = DrillDatabase(cluster: cluster)
            if let loss, try !database.isMarked(loss.marker) { throw StackError("the marker row was not restored") }
            let accounts = try database.accountCount()
            try await serving(cluster, isStopped) {
                _ = try await phones.app.signInWithGoogle(DemoPerson(role: "Drill"))
                let serving = ContinuousClock.now - written
                var comparison: DrillComparison?
                if let loss {
                    console.say("comparing \(loss.entries.count) accounts with what the phones were answered")
                    comparison = try await phones.compare(loss.entries, destroyedAt: loss.destroyedAt)
                }
                let found = DrillReport(
                    filesBack: written - began,
                    serving: serving,
                    servingMax: plan.servingMax,
                    accounts: accounts,
                    accountsBefore: loss?.accounts,
                    comparison: comparison,
                    newestCommit: restored.newestCommit
                )
                report.withLock { $0 = found }
            }
        }
        guard let report = report.withLock({ $0 }) else { throw StackError("the drill did not end") }
        return report
    }

    /// Starts the services, does something, and stops them.
    private func serving(
        _ cluster: LocalCluster,
        _ isStopped: () -> Bool,
        _ body: () async throws -> Void
    ) async throws {
        let programs = RunningPrograms(showsFaults: false)
        do {
            guard try await stack.start(programs, cluster, isStopped: isStopped) else { throw Self.stopped }
            try await body()
        } catch {
            await stack.stop(programs)
            throw error
        }
        await stack.stop(programs)
    }

    private func importAccounts(_ cluster: LocalCluster, _ isStopped: () -> Bool) async throws {
        let file = "\(folder.work)/accounts.json"
        try DrillAccounts.write(plan.accounts, to: file)
        defer { unlink(file) }
        console.say("importing \(plan.accounts) accounts")
        let own = "\(try ProgramFolder.path(configured: configuration[StackKeys.programs]))/vestibule"
        let program = PlannedProgram(
            name: "import",
            command: [
                own, "import", "firebase", file, "--rejects=\(folder.work)/rejects.csv",
                "--unreachable=\(folder.work)/unreachable.csv",
            ],
            address: configuration[StackKeys.gateway],
            addressKey: StackKeys.gateway.name,
            probe: .http(path: "/readyz")
        )
        let environment = stack.environment(of: cluster)
        _ = try await stack.runToEnd(program, environment, limit: Self.importLimit, isStopped: isStopped)
    }

    /// Does something while backups are followed, from the first complete one on.
    private func followed<Outcome: Sendable>(
        _ cluster: LocalCluster,
        _ isStopped: @escaping @Sendable () -> Bool,
        _ body: () async throws -> Outcome
    ) async throws -> Outcome {
        let environment = stack.environment(of: cluster)
        let settings = try BackupSettings(
            try Configuration.load(keys: BackupKeys.all, program: "backup", path: nil, environment: environment)
        )
        let console = console
        let follower = BackupFollower(settings, metrics: BackupMetrics(settings)) { console.say("backup: \($0)") }
        let following = Task {
            try await follower.run { Task.isCancelled || isStopped() }
        }
        do {
            let limit = ContinuousClock.now + Self.firstBackupLimit
            while try settings.folder.backups().isEmpty {
                guard ContinuousClock.now < limit else { throw StackError("there was no backup in time") }
                try await wait(for: Self.pollInterval, isStopped)
            }
            let outcome = try await body()
            following.cancel()
            try await following.value
            return outcome
        } catch {
            following.cancel()
            try? await following.value
            throw error
        }
    }

    private func wait(for time: Duration, _ isStopped: () -> Bool) async throws {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end {
            if isStopped() { throw Self.stopped }
            try await Task.sleep(for: min(Self.pollInterval, end - .now))
        }
    }

    private static let stopped = StackError("stopped before its end")
}
