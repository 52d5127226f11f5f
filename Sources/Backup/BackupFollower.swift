import FoundationEssentials
import Glibc
import ServiceKit
import Synchronization

/// Keeps backups up to date for as long as it runs: the write-ahead log as it is written, deleted accounts each second, and whole
/// backups at an interval.
public struct BackupFollower: Sendable {
    private static let pollInterval = Duration.seconds(1)
    private static let retryInterval = Duration.seconds(5)
    /// The server is asked how far behind the log is only so often.
    private static let lagInterval = Duration.seconds(5)
    private static let stopLimit = Duration.seconds(10)

    private let settings: BackupSettings
    private let say: @Sendable (String) -> Void
    private let metrics: BackupMetrics
    private let deletions: DeletionRecorder

    /// A follower. It reports what it does as lines to `say`, and its state to `metrics`.
    public init(
        _ settings: BackupSettings,
        metrics: BackupMetrics,
        say: @escaping @Sendable (String) -> Void
    ) {
        self.settings = settings
        self.metrics = metrics
        self.say = say
        deletions = DeletionRecorder(settings)
    }

    /// Runs until `isStopped` says so; then what was received is synced, and a backup that is being made is finished. What fails is
    /// retried, and said. Throws only if another process writes into the folder.
    public func run(isStopped: @escaping @Sendable () -> Bool) async throws {
        try settings.folder.make()
        if let newest = try settings.folder.backups().last { metrics.made(newest) }
        let lock = try lockFolder()
        defer { close(lock) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await receive(isStopped) }
            group.addTask {
                await repeatedly(isStopped) {
                    guard try isBackupDue() else { return }
                    let outcome = try await BackupMaker(settings, deletions: deletions).make()
                    metrics.made(outcome.backup)
                    say("made the backup \(outcome.backup.name)")
                }
            }
        }
    }

    /// The log and the deletions.
    private func receive(_ isStopped: @Sendable () -> Bool) async {
        let receiver = Mutex<LogReceiver.Started?>(nil)
        let store = BackupStore(settings)
        let lagAskedAt = Mutex(ContinuousClock.now)
        await repeatedly(isStopped) {
            if let running = receiver.withLock({ $0 }), let status = running.process.ending() {
                running.process.stop()
                receiver.withLock { $0 = nil }
                throw BackupError("receiving the log ended with status \(status)")
            }
            if receiver.withLock({ $0 }) == nil {
                let started = try await LogReceiver(settings).start()
                receiver.withLock { $0 = started }
                say("receiving the log into \(settings.folder.chain(started.chain))")
            }
            try await deletions.record()
            let now = ContinuousClock.now
            guard lagAskedAt.withLock({ now - $0 }) >= Self.lagInterval else { return }
            lagAskedAt.withLock { $0 = now }
            // Nil where the receiver has not connected yet, or not again.
            if let lag = try await store.logLagBytes() { metrics.followed(lagBytes: lag) }
        }
        if let running = receiver.withLock({ $0 }) { await Self.stop(running.process) }
    }

    /// Does something each second. What fails is said once and tried again after a longer pause.
    private func repeatedly(_ isStopped: @Sendable () -> Bool, _ work: @Sendable () async throws -> Void) async {
        var lastFault = ""
        var nextTry = ContinuousClock.now
        while !isStopped() {
            if ContinuousClock.now >= nextTry {
                do {
                    try await work()
                    if !lastFault.isEmpty { say("going on") }
                    lastFault = ""
                } catch {
                    if "\(error)" != lastFault {
                        say("\(error); tried again every \(Self.retryInterval.components.seconds) s")
                    }
                    lastFault = "\(error)"
                    nextTry = .now + Self.retryInterval
                }
            }
            try? await Task.sleep(for: Self.pollInterval)
        }
    }

    private func isBackupDue() throws -> Bool {
        // Without a chain there would be a gap behind the backup; and a new chain is of use from its first backup on.
        guard let chain = try settings.folder.chainNames().last else { return false }
        guard let newest = try settings.folder.backups().last, newest.name >= chain else { return true }
        return Date().timeIntervalSince(newest.endedAt) >= Double(settings.interval.components.seconds)
    }

    /// Held while it runs, so that no second one writes into the same files.
    private func lockFolder() throws -> Int32 {
        let path = settings.folder.lock
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError.lastError("\(path) cannot be opened") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw BackupError("another process writes into \(settings.folder.path)")
        }
        return descriptor
    }

    /// What was received is written and synced.
    private static func stop(_ process: PostgresTool.Running) async {
        process.stop()
        let limit = ContinuousClock.now + stopLimit
        while process.ending() == nil, ContinuousClock.now < limit { try? await Task.sleep(for: .milliseconds(20)) }
    }
}
