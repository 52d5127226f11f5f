import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// What a block came to.
struct BlockOutcome: Sendable, Hashable {
    /// Whether the account was blocked before.
    let wasBlocked: Bool
    /// How many sessions ended now.
    let endedSessions: Int64
}

extension IdentityStore {
    /// How often a block is tried again after PostgreSQL broke a deadlock.
    private static let blockingRetriesMax = 3

    /// Keeps an account's person out, in one transaction: live sessions end, and no sign-in opens another one until it is
    /// unblocked. Blocking a blocked account changes the reason alone. Announce the end of sessions when this returns.
    ///
    /// Locks are taken as a sign-in takes them, the account and then sessions in the order of their ids. A sign-in at the same
    /// moment comes before, and its session ends too, or after, and is undone (`end_excess_sessions`).
    ///
    /// - Parameter operatorName: the name in the operator's certificate; nil where callers have none.
    /// - Throws: `IdentityError.accountNotFound`, or what the database throws; then nothing is done.
    func blockAccount(
        _ userID: UserID,
        reason: BlockReason,
        by operatorName: String?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> BlockOutcome {
        let (user, now) = (userID.uuid, PostgresTimestamp(milliseconds: nowMilliseconds))
        return try await database.withTransaction(
            retries: Self.blockingRetriesMax,
            deadline: deadline
        ) { transaction in
            let row = try await transaction.query(
                "SELECT blocked_at IS NOT NULL, block_reason FROM accounts WHERE user_id = \(user) FOR NO KEY UPDATE"
            ).first
            guard let (wasBlocked, earlier) = try row?.decode(Bool.self, String?.self) else {
                throw IdentityError.accountNotFound
            }
            try await transaction.execute(
                """
                UPDATE accounts SET blocked_at = COALESCE(blocked_at, \(now)), block_reason = \(reason.word)
                WHERE user_id = \(user)
                """
            )
            // A thief of the account may have made them.
            try await transaction.execute("DELETE FROM recovery_codes WHERE user_id = \(user)")
            // A statement of its own, since its snapshot must have the sessions that were committed before the lock was got.
            let ended = Int64(try await transaction.execute(Self.endOfSessions(of: userID, now)).affected)
            // An answer that was lost is asked for again: that it was so already is no event.
            if !wasBlocked || earlier != reason.word || ended > 0 {
                try await transaction.execute(
                    """
                    INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
                    VALUES (security_event_id(\(now), false), \(user), \(SecurityEvent.accountBlocked.rawValue), \(now),
                        jsonb_strip_nulls(jsonb_build_object('reason', \(reason.word)::text,
                            'operator', \(operatorName)::text, 'sessions', \(ended)::bigint)))
                    """
                )
            }
            return BlockOutcome(wasBlocked: wasBlocked, endedSessions: ended)
        }
    }

    /// Lets an account's person sign in again. A scheduled deletion waits for the whole delay once more: nobody could cancel it
    /// meanwhile.
    ///
    /// - Returns: whether the account was blocked; nil if there is none.
    func unblockAccount(
        _ userID: UserID,
        by operatorName: String?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> Bool? {
        let (user, now) = (userID.uuid, PostgresTimestamp(milliseconds: nowMilliseconds))
        let deletesAt = PostgresTimestamp(milliseconds: nowMilliseconds + limits.deletionDelaySeconds * 1000)
        let row = try await database.execute(
            """
            WITH unblocked AS (
                UPDATE accounts SET blocked_at = NULL, block_reason = NULL
                WHERE user_id = \(user) AND blocked_at IS NOT NULL
                RETURNING user_id
            ), put_off AS (
                UPDATE scheduled_deletions SET deletes_at = GREATEST(deletes_at, \(deletesAt)),
                    next_at = GREATEST(next_at, \(deletesAt))
                WHERE user_id IN (SELECT user_id FROM unblocked)
            ), told AS (
                INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
                SELECT security_event_id(\(now), false), user_id, \(SecurityEvent.accountUnblocked.rawValue), \(now),
                    jsonb_strip_nulls(jsonb_build_object('operator', \(operatorName)::text))
                FROM unblocked
            )
            SELECT EXISTS (SELECT FROM unblocked) FROM accounts WHERE user_id = \(user)
            """,
            deadline: deadline
        ).first
        return try row?.decode(0, as: Bool.self)
    }

    /// Blocks an account as one is that it absorbs: nobody leaves a blocked account by having it absorbed. Nothing if that one isn't
    /// blocked. Called under the locks of both accounts' rows; announce the end of sessions afterwards.
    func carryBlock(
        from absorbed: UserID,
        to absorber: UserID,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        let user = absorber.uuid
        let row = try await transaction.execute(
            """
            UPDATE accounts SET blocked_at = COALESCE(accounts.blocked_at, other.blocked_at),
                block_reason = COALESCE(accounts.block_reason, other.block_reason)
            FROM accounts other
            WHERE accounts.user_id = \(user) AND other.user_id = \(absorbed.uuid) AND other.blocked_at IS NOT NULL
            RETURNING accounts.block_reason
            """
        ).first
        guard let row else { return }
        let reason = try row.decode(0, as: String?.self)
        let ended = Int64(try await transaction.execute(Self.endOfSessions(of: absorber, now)).affected)
        try await transaction.execute(
            """
            INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
            VALUES (security_event_id(\(now), false), \(user), \(SecurityEvent.accountBlocked.rawValue), \(now),
                jsonb_strip_nulls(jsonb_build_object('reason', \(reason)::text, 'absorbed', \(absorbed.description)::text,
                    'sessions', \(ended)::bigint)))
            """
        )
    }

    private static func endOfSessions(of userID: UserID, _ now: PostgresTimestamp) -> Query {
        """
        WITH locked AS MATERIALIZED (
            SELECT session_id FROM sessions session
            WHERE user_id = \(userID.uuid) AND NOT \(unsafeSQL: Self.isEnded) AND expires_at > \(now)
            ORDER BY session_id FOR UPDATE
        )
        UPDATE sessions SET revoked_at = \(now), revoke_reason = \(SessionEnd.byOperator.rawValue),
            expires_at = LEAST(sessions.expires_at, \(now))
        FROM locked WHERE sessions.session_id = locked.session_id AND sessions.revoked_at IS NULL
        """
    }
}
