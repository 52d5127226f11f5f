import Postgres
import RPC

/// What PostgreSQL keeps, and for whom, as far as a role without further rights may read it. The disk's free space is nothing
/// that it says, and the sizes of its WAL files only to members of `pg_monitor`, who may also read everybody's statements.
struct DatabaseStorage: Sendable, Hashable {
    /// WAL that is kept for a standby or a backup, which may be away.
    struct Slot: Sendable, Hashable {
        let name: String
        let walBytes: Double
    }

    /// Bytes of the database on the disk.
    let sizeBytes: Int64
    /// Standbys that are connected, and others that receive WAL, such as `vestibule backup --follow`.
    let standbyCount: Int64
    /// By how many bytes of WAL the farthest is behind. Nil without any, and for a role without `pg_read_all_stats`.
    let standbyLagBytes: Double?
    /// Whether the last attempt to archive WAL failed; nil where none is archived.
    let archivingFails: Bool?
    /// The slots that keep most.
    let slots: [Slot]

    /// The maximum of slots that are read.
    static let slotsMax = 16

    /// Asks for it. A standby refuses.
    static func read(from database: PostgresClient, deadline: Deadline) async throws(PostgresError) -> DatabaseStorage {
        let slots = try await database.query(
            """
            SELECT slot_name::text, greatest(0, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn))::float8
            FROM pg_replication_slots WHERE restart_lsn IS NOT NULL ORDER BY 2 DESC, 1 LIMIT \(Int64(slotsMax))
            """,
            deadline: deadline
        )
        let rows = try await database.query(
            """
            SELECT pg_database_size(current_database()), (SELECT count(*) FROM pg_stat_replication),
                (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::float8 FROM pg_stat_replication),
                (SELECT coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) FROM pg_stat_archiver
                    WHERE current_setting('archive_mode') <> 'off')
            """,
            deadline: deadline
        )
        let (sizeBytes, standbyCount, lag, fails) = try rows[0].decode(Int64.self, Int64.self, Double?.self, Bool?.self)
        var found: [Slot] = []
        for row in slots {
            let (name, bytes) = try row.decode(String.self, Double.self)
            found.append(Slot(name: name, walBytes: bytes))
        }
        return DatabaseStorage(
            sizeBytes: sizeBytes,
            standbyCount: standbyCount,
            standbyLagBytes: lag,
            archivingFails: fails,
            slots: found
        )
    }
}
