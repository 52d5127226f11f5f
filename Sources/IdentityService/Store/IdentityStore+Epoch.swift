import Models
import Postgres
import RPC

extension IdentityStore {
    /// How long the statements of an operator's command may take: they look at each session.
    static let epochStatementLimit: Duration = .seconds(600)

    /// Whether a row of `sessions session` was ended, by itself or with all others; all count as ended if the epoch is gone.
    /// The epoch is read once a statement, however many rows it looks at.
    static let isEnded =
        "(session.revoked_at IS NOT NULL"
        + " OR (session.created_at >= (SELECT sessions_from FROM session_epoch)) IS NOT TRUE)"

    /// How many sessions are alive.
    func liveSessionCount(nowMilliseconds: Int64) async throws(PostgresError) -> Int64 {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.query(
            """
            SELECT count(*) FROM sessions session
            WHERE NOT \(unsafeSQL: Self.isEnded) AND expires_at > \(now)
            """,
            deadline: .after(Self.epochStatementLimit)
        )
        return try rows.first?.decode(0, as: Int64.self) ?? 0
    }

    /// Ends all sessions that were begun before now, and refuses provider tokens that were issued before now. It holds for
    /// each call that is begun after it, on every replica, and for rows that are put back later.
    ///
    /// Sessions from before that seem to be begun later, by a clock that was ahead, are ended one by one.
    ///
    /// - Returns: the time from which on sessions count, in Unix milliseconds.
    func endAllSessions(_ clock: WallClock) async throws -> Int64 {
        try await database.withTransaction(retries: 3, deadline: .after(Self.epochStatementLimit)) { transaction in
            let ahead = PostgresTimestamp(milliseconds: clock.nowMilliseconds)
            try await transaction.execute(
                """
                UPDATE sessions SET revoked_at = \(ahead), revoke_reason = 'end_all', expires_at = \(ahead)
                WHERE created_at > \(ahead) AND revoked_at IS NULL
                """
            )
            // Last: until it is committed, sign-ins go by the epoch before, and what they begin meanwhile is ended with it.
            let nowMilliseconds = clock.nowMilliseconds
            let now = PostgresTimestamp(milliseconds: nowMilliseconds)
            let changed = try await transaction.execute("UPDATE session_epoch SET sessions_from = \(now)")
            guard changed.affected == 1 else { throw EpochMissing() }
            return nowMilliseconds
        }
    }

    /// The time of PostgreSQL's clock, in Unix milliseconds.
    func databaseClockMilliseconds() async throws(PostgresError) -> Int64? {
        try await database.query("SELECT clock_timestamp()").first?.decode(0, as: PostgresTimestamp.self).milliseconds
    }
}

/// The row that says from when on sessions count is not there.
struct EpochMissing: Error, CustomStringConvertible {
    var description: String {
        "the table session_epoch has no row: the migrations were not applied, or somebody removed it"
    }
}
