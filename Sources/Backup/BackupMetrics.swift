import FoundationEssentials
import Glibc
import ServiceKit
import Synchronization

/// The state of the backups, as `vestibule backup follow` knows it.
public final class BackupMetrics: MetricsSource {
    /// The name of the time at which the log was last known to be received.
    public static let followedName = "vestibule_backup_followed_timestamp_seconds"

    private struct State {
        var followedAt: Date
        var newestAt: Date
        var newestBytes: Int64 = 0
        var lagBytes: Int64?
    }

    private let folder: BackupFolder
    private let interval: Duration
    private let state: Mutex<State>

    /// The state of a process that begins to follow now.
    public init(_ settings: BackupSettings) {
        folder = settings.folder
        interval = settings.interval
        let now = Date()
        state = Mutex(State(followedAt: now, newestAt: now))
    }

    /// The log is being received, and deletions are recorded.
    func followed(lagBytes: Int64) {
        state.withLock { state in
            state.followedAt = Date()
            state.lagBytes = lagBytes
        }
    }

    /// There is a whole backup.
    func made(_ backup: BackupRecord) {
        state.withLock { state in
            state.newestAt = backup.endedAt
            state.newestBytes = backup.bytes
        }
    }

    /// Adds the metrics.
    public func write(to text: inout MetricsText) {
        let now = state.withLock { $0 }
        text.single(
            "vestibule_backup_followed_timestamp_seconds",
            .gauge,
            help: "When the log was last known to be received, in seconds since 1970; at first, when it began.",
            now.followedAt.timeIntervalSince1970
        )
        text.single(
            "vestibule_backup_newest_timestamp_seconds",
            .gauge,
            help: "When the newest whole backup was complete, in seconds since 1970; without one, when it began.",
            now.newestAt.timeIntervalSince1970
        )
        text.single(
            "vestibule_backup_newest_bytes",
            .gauge,
            help: "The size of the newest whole backup; 0 without one.",
            Double(now.newestBytes)
        )
        text.single(
            "vestibule_backup_interval_seconds",
            .gauge,
            help: "How often a whole backup is made (VESTIBULE_BACKUP_EVERY).",
            Double(interval.components.seconds)
        )
        if let lag = now.lagBytes {
            text.single(
                "vestibule_backup_log_lag_bytes",
                .gauge,
                help: "How much of PostgreSQL's log was not received when last asked.",
                Double(lag)
            )
        }
        var status = statvfs()
        if statvfs(folder.path, &status) == 0 {
            text.single(
                "vestibule_backup_disk_free_bytes",
                .gauge,
                help: "The free space of the disk of the backups.",
                Double(status.f_bavail) * Double(status.f_frsize)
            )
        }
    }
}
