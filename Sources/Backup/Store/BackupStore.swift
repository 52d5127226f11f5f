import FoundationEssentials
import LocalPostgres
import Postgres

/// What a backup asks the database.
struct BackupStore: Sendable {
    /// The state of the cluster.
    struct Cluster: Sendable, Hashable {
        let systemIdentifier: String
        let majorVersion: Int
        /// The timeline that is written now, as the names of segments begin with it.
        let timeline: String
    }

    /// The slot that keeps the log of the server until it was received (PostgreSQL manual, "Replication Slots").
    static let slot = "vestibule_backup"
    /// How long before the newest known deletion another one may have begun that is committed later, in seconds.
    private static let overlapSeconds = 600
    private static let rowsMax = 10_000
    private static let undefinedTable = SQLState("42P01")

    private let session: AdministrativeSession
    private let schema: String

    init(_ settings: BackupSettings) {
        session = AdministrativeSession(settings.database)
        schema = settings.identitySchema
    }

    func cluster() async throws -> Cluster {
        let rows = try await session.run(
            """
            SELECT system_identifier, current_setting('server_version_num')::int / 10000,
                left(pg_walfile_name(pg_current_wal_lsn()), 8), current_setting('wal_segment_size')
            FROM pg_control_system()
            """
        )
        guard let row = rows.first, row.count == 4, let version = Int(row[1]) else {
            throw BackupError("the database didn't say what it is")
        }
        guard row[3] == "16MB" else {
            throw BackupError("the database's wal_segment_size is \(row[3]); only 16MB is supported")
        }
        return Cluster(systemIdentifier: row[0], majorVersion: version, timeline: row[2])
    }

    /// Whether the slot is there and the server still has all that wasn't received.
    func hasSlot() async throws -> Bool {
        let rows = try await session.run(
            "SELECT COALESCE(wal_status, 'lost') FROM pg_replication_slots WHERE slot_name = '\(Self.slot)'"
        )
        return rows.first.map { $0[0] != "lost" && $0[0] != "unreserved" } ?? false
    }

    /// How many bytes of the log were not received yet; nil if nothing receives it.
    func logLagBytes() async throws -> Int64? {
        let rows = try await session.run(
            """
            SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), restart_lsn)::bigint FROM pg_replication_slots
            WHERE slot_name = '\(Self.slot)' AND active
            """
        )
        return rows.first.flatMap { Int64($0[0]) }.map { max(0, $0) }
    }

    /// Makes the slot anew. From then on the server keeps its log for it.
    func makeSlot() async throws {
        try await session.run(
            """
            SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
            WHERE slot_name = '\(Self.slot)' AND NOT active
            """
        )
        try await session.run("SELECT pg_create_physical_replication_slot('\(Self.slot)', true)")
    }

    /// The accounts that were deleted since about a time, however many. None before identity's tables were made.
    func deletedAccounts(since: Date?) async throws -> [DeletedAccount] {
        let seconds = since.map { Int($0.timeIntervalSince1970) - Self.overlapSeconds } ?? 0
        var found: [DeletedAccount] = []
        var last = "to_timestamp(\(seconds)), '00000000-0000-0000-0000-000000000000'::uuid"
        while true {
            let rows: [[String]]
            do {
                rows = try await session.run(
                    """
                    SELECT user_id, why, floor(extract(epoch FROM closed_at) * 1000)::bigint, closed_at
                    FROM \(schema).account_closings WHERE (closed_at, user_id) > (\(last))
                    ORDER BY closed_at, user_id LIMIT \(Self.rowsMax)
                    """
                )
            } catch {
                if case .refused(let fault) = error, fault.state == Self.undefinedTable { return [] }
                throw error
            }
            for row in rows {
                guard row.count == 4, let milliseconds = Int64(row[2]) else { continue }
                let time = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
                found.append(DeletedAccount(id: row[0], reason: row[1], deletedAt: time))
            }
            guard let end = rows.last, rows.count == Self.rowsMax else { return found }
            last = "'\(end[3])'::timestamptz, '\(end[0])'::uuid"
        }
    }
}
