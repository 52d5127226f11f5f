import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// The deletion of an account isn't scheduled any more, or for later, or has to wait until the account is unblocked.
struct DeletionNotDue: Error {}

extension IdentityStore {
    /// How many due deletions are read at once.
    static let dueDeletionsMax = 32
    /// For how long a statement about a due deletion may take: nobody waits for it.
    static let dueDeletionLimit: Duration = .seconds(10)
    /// How often a change of a schedule is tried again after PostgreSQL broke a deadlock.
    private static let scheduleRetriesMax = 3

    /// Schedules the deletion of an account, by a session of it that lives. One that is scheduled keeps its time.
    ///
    /// - Returns: when it will be deleted, in Unix milliseconds.
    /// - Throws: `IdentityError` with `sessionRevoked` or `sessionInvalid`, and nothing is done; or what the database throws.
    func scheduleDeletion(
        of userID: UserID,
        by sessionID: SessionID,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> (isNew: Bool, deletesAtMilliseconds: Int64) {
        let user = userID.uuid
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let deletesAt = PostgresTimestamp(milliseconds: nowMilliseconds + limits.deletionDelaySeconds * 1000)
        return try await database.withTransaction(
            retries: Self.scheduleRetriesMax,
            deadline: deadline
        ) { transaction in
            try await lock(userID, for: sessionID, in: transaction)
            let row = try await transaction.execute(
                """
                WITH scheduled AS (
                    INSERT INTO scheduled_deletions (user_id, scheduled_at, deletes_at, next_at)
                    VALUES (\(user), \(now), \(deletesAt), \(deletesAt))
                    ON CONFLICT (user_id) DO NOTHING
                    RETURNING deletes_at
                ), told AS (
                    INSERT INTO security_events (event_id, user_id, session_id, kind, occurred_at, details)
                    SELECT security_event_id(\(now), false), \(user), \(sessionID.uuid),
                        \(SecurityEvent.deletionScheduled.rawValue), \(now), jsonb_build_object(
                            'deletes_at', to_char(deletes_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                    FROM scheduled
                )
                SELECT true, deletes_at FROM scheduled
                UNION ALL SELECT false, deletes_at FROM scheduled_deletions WHERE user_id = \(user)
                """
            )[0]
            let (isNew, time) = try row.decode(Bool.self, PostgresTimestamp.self)
            return (isNew, time.milliseconds)
        }
    }

    /// Cancels the scheduled deletion of an account, by a session of it that lives.
    ///
    /// - Returns: whether one was scheduled.
    /// - Throws: `IdentityError` with `sessionRevoked` or `sessionInvalid`, and nothing is done; or what the database throws.
    func cancelDeletion(
        of userID: UserID,
        by sessionID: SessionID,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await database.withTransaction(
            retries: Self.scheduleRetriesMax,
            deadline: deadline
        ) { transaction in
            try await lock(userID, for: sessionID, in: transaction)
            let rows = try await transaction.execute(
                """
                WITH cancelled AS (
                    DELETE FROM scheduled_deletions WHERE user_id = \(userID.uuid) RETURNING user_id
                )
                INSERT INTO security_events (event_id, user_id, session_id, kind, occurred_at, details)
                SELECT security_event_id(\(now), false), user_id, \(sessionID.uuid),
                    \(SecurityEvent.deletionCancelled.rawValue), \(now), '{}'
                FROM cancelled
                """
            )
            return rows.affected > 0
        }
    }

    /// When an account will be deleted, in Unix milliseconds; nil if that isn't scheduled.
    func deletionTime(of userID: UserID, deadline: Deadline?) async throws(PostgresError) -> Int64? {
        let row = try await database.query(
            "SELECT deletes_at FROM scheduled_deletions WHERE user_id = \(userID.uuid)",
            deadline: deadline
        ).first
        return try row?.decode(0, as: PostgresTimestamp.self).milliseconds
    }

    // MARK: - When the time has come

    /// Accounts that are to be deleted now, those due longest first. A blocked account isn't: its person would come back as somebody
    /// new. It waits until it is unblocked, and then for the whole delay (``unblockAccount(_:by:nowMilliseconds:deadline:)``).
    func dueDeletions(nowMilliseconds: Int64) async throws(PostgresError) -> [UserID] {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.query(
            """
            SELECT user_id FROM scheduled_deletions JOIN accounts USING (user_id)
            WHERE next_at <= \(now) AND blocked_at IS NULL
            ORDER BY next_at, user_id LIMIT \(Self.dueDeletionsMax)
            """,
            deadline: .after(Self.dueDeletionLimit)
        )
        var users: [UserID] = []
        for row in rows { users.append(UserID(try row.decode(0, as: PostgresUUID.self))) }
        return users
    }

    /// Puts a deletion off that failed, for twice as long each time, up to an hour: those behind it go first.
    func postponeDeletion(of userID: UserID, nowMilliseconds: Int64) async throws(PostgresError) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        try await database.execute(
            """
            UPDATE scheduled_deletions SET failures = failures + 1,
                next_at = GREATEST(deletes_at, \(now) + LEAST(3600, power(2, LEAST(failures, 12))) * interval '1 second')
            WHERE user_id = \(userID.uuid)
            """,
            deadline: .after(Self.dueDeletionLimit)
        )
    }

    /// Throws ``DeletionNotDue`` unless an account is to be deleted now. Called under the lock of its row.
    func checkDue(
        _ userID: UserID,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        let rows = try await transaction.query(
            """
            SELECT FROM scheduled_deletions JOIN accounts USING (user_id)
            WHERE user_id = \(userID.uuid) AND deletes_at <= \(now) AND blocked_at IS NULL
            """
        )
        if rows.isEmpty { throw DeletionNotDue() }
    }

    /// Locks an account's row against its closing and everybody else who changes its schedule, and throws unless the session lives.
    private func lock(
        _ userID: UserID,
        for sessionID: SessionID,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.query("SELECT FROM accounts WHERE user_id = \(userID.uuid) FOR NO KEY UPDATE")
        // A statement of its own, to see what was waited for. Of an account that was deleted meanwhile there is no session.
        _ = try await liveSession(sessionID, of: userID, in: transaction)
    }
}
