import Logging
import Postgres
import RPC
import ServiceKit
import Synchronization

/// What PostgreSQL keeps, read every half minute: it looks at each file of the database for its size.
final class DatabaseStorageMetrics: MetricsSource {
    /// The pause between two reads.
    private static let interval: Duration = .seconds(30)

    private let database: PostgresClient
    private let logger: Logger
    private let storage = Mutex<DatabaseStorage?>(nil)

    init(_ database: PostgresClient, logger: Logger) {
        self.database = database
        self.logger = logger
    }

    /// Reads it until the task is cancelled. While that fails, none is reported.
    func watch() async {
        while !Task.isCancelled {
            do throws(PostgresError) {
                let now = try await DatabaseStorage.read(from: database, deadline: .after(.seconds(5)))
                storage.withLock { $0 = now }
            } catch {
                storage.withLock { $0 = nil }
                logger.debug("what the database keeps can't be read", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Adds what was read last.
    func write(to text: inout MetricsText) {
        guard let storage = storage.withLock({ $0 }) else { return }
        text.single(
            "vestibule_database_size_bytes",
            .gauge,
            help: "Bytes of the database on PostgreSQL's disk.",
            Double(storage.sizeBytes)
        )
        text.single(
            "vestibule_database_standbys",
            .gauge,
            help: "Standbys that are connected to PostgreSQL, and others that receive its WAL.",
            Double(storage.standbyCount)
        )
        text.family(
            "vestibule_database_standby_lag_bytes",
            .gauge,
            help: "By how many bytes of WAL the farthest standby is behind; only if the role has pg_read_all_stats.",
            storage.standbyLagBytes.map { [([], $0)] } ?? []
        )
        text.family(
            "vestibule_database_slot_wal_bytes",
            .gauge,
            help: "Bytes of WAL that PostgreSQL keeps for a replication slot. They grow while its standby is away.",
            storage.slots.map { ([("slot", $0.name)], $0.walBytes) }
        )
        text.family(
            "vestibule_database_archiving_fails",
            .gauge,
            help: "Whether PostgreSQL's last attempt to archive WAL failed: 1 or 0. None where archive_mode is off.",
            storage.archivingFails.map { [([], $0 ? 1 : 0)] } ?? []
        )
    }
}
