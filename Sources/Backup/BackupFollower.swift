import FoundationEssentials
import Glibc
import LocalPostgres
import ServiceKit

/// Keeps backups up to date for as long as it runs: the write-ahead log as it is written, deleted accounts each second, and whole
/// backups at an interval.
public struct BackupFollower: Sendable {
    private static let pollInterval = Duration.seconds(1)
    private static let retryInterval = Duration.seconds(5)
    private static let stopLimit = Duration.seconds(10)

    private let settings: BackupSettings
    private let say: @Sendable (String) -> Void

    /// A follower that says in lines what it does.
    public init(_ settings: BackupSettings, say: @escaping @Sendable (String) -> Void) {
        self.settings = settings
        self.say = say
    }

    /// Runs until `isStopped` says so; then what was received is synced. What fails is retried, and said. Throws only if another process
    /// writes into the folder.
    public func run(isStopped: @Sendable () -> Bool) async throws {
        try settings.folder.make()
        let lock = try lockFolder()
        defer { close(lock) }
        var receiver: LogReceiver.Started?
        var nextTry = ContinuousClock.now
        var lastFault = ""
        while !isStopped() {
            if let running = receiver, let status = Self.ending(of: running.process) {
                say("receiving the log ended (status \(status)); it is started again")
                receiver = nil
                nextTry = .now + Self.retryInterval
            }
            if ContinuousClock.now >= nextTry {
                do {
                    if receiver == nil {
                        let started = try await LogReceiver(settings).start()
                        receiver = started
                        say("receiving the log into \(settings.folder.chain(started.chain))")
                        if started.isNew { try await makeBackup() }
                    }
                    if try isBackupDue() { try await makeBackup() }
                    try await BackupMaker(settings).logDeletedAccounts()
                    if !lastFault.isEmpty { say("going on") }
                    lastFault = ""
                } catch {
                    if "\(error)" != lastFault { say("\(error); tried again every \(Self.retryInterval)") }
                    lastFault = "\(error)"
                    nextTry = .now + Self.retryInterval
                }
            }
            try? await Task.sleep(for: Self.pollInterval)
        }
        if let receiver { await Self.stop(receiver.process) }
    }

    private func isBackupDue() throws -> Bool {
        guard let newest = try settings.folder.backups().last else { return true }
        return Date().timeIntervalSince(newest.endedAt) >= Double(settings.interval.components.seconds)
    }

    private func makeBackup() async throws {
        let outcome = try await BackupMaker(settings).make()
        say("made the backup \(outcome.backup.name)")
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

    /// The exit status of a child that has ended; nil while it runs.
    private static func ending(of process: pid_t) -> Int32? {
        var status: Int32 = 0
        return waitpid(process, &status, WNOHANG) == process ? status >> 8 & 0xff : nil
    }

    /// SIGINT has it write and sync what it received.
    private static func stop(_ process: pid_t) async {
        kill(process, SIGINT)
        let limit = ContinuousClock.now + stopLimit
        while ending(of: process) == nil {
            if ContinuousClock.now > limit {
                kill(process, SIGKILL)
                _ = ChildProcess.wait(for: process)
                return
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }
}
