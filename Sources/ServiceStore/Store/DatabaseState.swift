import Postgres
import RPC

/// What PostgreSQL says of itself.
struct DatabaseState: Sendable, Hashable {
    /// How far its clock is ahead of this machine's, in seconds, to within half the round trip.
    var clockOffset: Double
    /// Which history of its data it writes: a promoted standby and a restored backup begin another one. Nil on a standby.
    var timeline: Int?
    /// False for a standby, and where `default_transaction_read_only` is on.
    var takesWrites: Bool
    /// Whether it acknowledges a commit only when a standby has it. Such a standby may take over without loss.
    var isConfirmed: Bool

    /// Asks for it, in one round trip.
    static func read(
        from database: PostgresClient,
        nowMilliseconds: @Sendable () -> Int64,
        deadline: Deadline
    ) async throws -> DatabaseState {
        let before = nowMilliseconds()
        let rows = try await database.query(
            """
            SELECT clock_timestamp(), current_setting('transaction_read_only') = 'off',
                CASE WHEN pg_is_in_recovery() THEN NULL ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END,
                current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') NOT IN ('off', 'local')
            """,
            deadline: deadline
        )
        let after = nowMilliseconds()
        let (time, takesWrites, timeline, isConfirmed) = try rows[0]
            .decode(PostgresTimestamp.self, Bool.self, String?.self, Bool.self)
        return DatabaseState(
            clockOffset: Double(time.milliseconds * 2 - before - after) / 2000,
            timeline: timeline.flatMap { Int($0, radix: 16) },
            takesWrites: takesWrites,
            isConfirmed: isConfirmed
        )
    }

    /// Writes some pages that are new to the data's files, and takes them back. Small writes find room in old pages even where
    /// the disk is full, so they show nothing.
    ///
    /// - Throws: `PostgresError`, whose `isRefusedWrite` says that the server takes no writes.
    static func tryWriting(to database: PostgresClient, deadline: Deadline) async throws {
        struct Undone: Error {}
        do {
            try await database.withTransaction(deadline: deadline) { transaction in
                // Incompressible, and in a table that each role may write to.
                try await transaction.execute(
                    """
                    SELECT lo_from_bytea(0, string_agg(sha512(random()::text::bytea), ''::bytea)) FROM generate_series(1, 256)
                    """
                )
                throw Undone()
            }
        } catch is Undone {}
    }
}
