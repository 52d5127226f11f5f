import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// How long the statements of an operator's command may take: they look at each session.
    static let epochStatementLimit: Duration = .seconds(600)

    /// Whether a row of `sessions session` was ended, by itself or with all others; all count as ended if the epoch is gone.
    /// The epoch is read once a statement, however many rows it looks at.
    static let isEnded =
        "(session.revoked_at IS NOT NULL"
        + " OR (session.created_at >= (SELECT sessions_from FROM session_epoch)) IS NOT TRUE)"

    /// From when on sessions count; nil if the epoch is gone, and then none do.
    func sessionsFrom(deadline: Deadline?) async throws(PostgresError) -> PostgresTimestamp? {
        try await database.query("SELECT sessions_from FROM session_epoch", deadline: deadline).first?.decode(0)
    }

    /// How many sessions are alive that a command would end.
    func liveSessionCount(_ which: EndedSessions, nowMilliseconds: Int64) async throws(PostgresError) -> Int64 {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let (before, userID) = (which.before ?? PostgresTimestamp(microsecondsSince1970: .max), which.userID?.uuid)
        let rows = try await database.query(
            """
            SELECT count(*) FROM sessions session
            WHERE NOT \(unsafeSQL: Self.isEnded) AND expires_at > \(now) AND created_at < \(before)
                AND (\(userID) IS NULL OR user_id = \(userID))
            """,
            deadline: .after(Self.epochStatementLimit)
        )
        return try rows.first?.decode(0, as: Int64.self) ?? 0
    }

    /// Ends all sessions, or those that were begun before a time, and refuses provider tokens that were issued before it. It holds for
    /// each refresh that is begun after it and for checks a second after it, on every replica, and for rows that are put back
    /// later. Sessions that were ended before stay so: the time moves forward only.
    ///
    /// Where it is all of them, sessions that seem to be begun later than now, by a clock that was ahead, are ended one by one.
    ///
    /// - Parameters:
    ///   - which: all, or those begun before a time.
    ///   - count: how many live sessions there were, for the audit log.
    /// - Returns: the time from which on sessions count, in Unix milliseconds.
    func endSessions(_ which: EndedSessions, count: Int64, _ clock: WallClock) async throws -> Int64 {
        // Long where there are many sessions. Readers of a log by its clock see the epoch in each look.
        try await database.withTransaction(retries: 3, deadline: .after(Self.epochStatementLimit), isLong: true) {
            transaction in
            if which == .all {
                let ahead = PostgresTimestamp(milliseconds: clock.nowMilliseconds)
                try await transaction.execute(
                    """
                    WITH locked AS MATERIALIZED (
                        SELECT session_id FROM sessions WHERE created_at > \(ahead) AND revoked_at IS NULL
                        ORDER BY session_id FOR UPDATE
                    )
                    UPDATE sessions SET revoked_at = \(ahead), revoke_reason = \(SessionEnd.endAll.rawValue),
                        expires_at = \(ahead)
                    FROM locked WHERE sessions.session_id = locked.session_id
                    """
                )
            }
            // Last: until it is committed, sign-ins go by the epoch before, and what they begin meanwhile is ended with it.
            let now = PostgresTimestamp(milliseconds: clock.nowMilliseconds)
            let from = try await transaction.execute(
                """
                WITH moved AS (
                    UPDATE session_epoch SET sessions_from = GREATEST(sessions_from, \(which.before ?? now))
                    RETURNING sessions_from
                ), told AS (
                    INSERT INTO security_events (event_id, kind, occurred_at, details)
                    SELECT security_event_id(\(now), false), \(SecurityEvent.allSessionsEnded.rawValue), \(now),
                        jsonb_build_object('sessions', \(count), 'sessions_from', sessions_from)
                    FROM moved
                )
                SELECT sessions_from FROM moved
                """
            )
            guard let from = try from.first?.decode(0, as: PostgresTimestamp.self) else { throw EpochMissing() }
            return from.milliseconds
        }
    }

    /// Ends all live sessions of an account, as an operator's wish.
    ///
    /// - Parameter operatorName: the name in the operator's certificate; nil where there is none.
    /// - Returns: how many there were.
    func endSessions(
        of userID: UserID,
        by operatorName: String? = nil,
        nowMilliseconds: Int64,
        deadline: Deadline = .after(epochStatementLimit)
    ) async throws(PostgresError) -> Int64 {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.execute(
            """
            WITH locked AS MATERIALIZED (
                SELECT session_id FROM sessions session
                WHERE user_id = \(userID.uuid) AND NOT \(unsafeSQL: Self.isEnded) AND expires_at > \(now)
                ORDER BY session_id FOR UPDATE
            ), ended AS (
                UPDATE sessions SET revoked_at = \(now), revoke_reason = \(SessionEnd.byOperator.rawValue),
                    expires_at = LEAST(sessions.expires_at, \(now))
                FROM locked WHERE sessions.session_id = locked.session_id AND sessions.revoked_at IS NULL
                RETURNING sessions.session_id
            ), told AS (
                INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
                SELECT security_event_id(\(now), false), \(userID.uuid),
                    \(SecurityEvent.sessionsEndedEverywhere.rawValue), \(now),
                    jsonb_strip_nulls(jsonb_build_object('by', 'operator', 'operator', \(operatorName)::text,
                        'sessions', (SELECT count(*) FROM ended)))
            )
            SELECT count(*) FROM ended
            """,
            deadline: deadline
        )
        return try rows.first?.decode(0, as: Int64.self) ?? 0
    }

    /// The time of PostgreSQL's clock, in Unix milliseconds.
    func databaseClockMilliseconds() async throws(PostgresError) -> Int64? {
        try await database.query("SELECT clock_timestamp()").first?.decode(0, as: PostgresTimestamp.self).milliseconds
    }
}

/// Which sessions a command ends.
enum EndedSessions: Sendable, Hashable {
    /// Those of everybody.
    case all
    /// Those of everybody that were begun before a time, in Unix milliseconds.
    case begunBefore(milliseconds: Int64)
    /// Those of one account.
    case account(UserID)

    fileprivate var before: PostgresTimestamp? {
        if case .begunBefore(let milliseconds) = self { PostgresTimestamp(milliseconds: milliseconds) } else { nil }
    }

    fileprivate var userID: UserID? { if case .account(let userID) = self { userID } else { nil } }
}

/// The row that says from when on sessions count is not there.
struct EpochMissing: Error, CustomStringConvertible {
    var description: String {
        "the table session_epoch has no row: the migrations were not applied, or somebody removed it"
    }
}
