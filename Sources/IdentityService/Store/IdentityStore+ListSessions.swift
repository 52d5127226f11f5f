import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// A session as its owner sees it.
struct ListedSession: Sendable, Hashable {
    let sessionID: SessionID
    let deviceName: String?
    let provider: String
    let createdAtMilliseconds: Int64
    let lastUsedAtMilliseconds: Int64
}

extension IdentityStore {
    private static let listedColumns = "session_id, device_name, provider, created_at, last_used_at"

    /// The live sessions of an account, the one used last first, at most ``SessionLimits/sessionsListedMax``.
    func sessions(
        of userID: UserID,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> [ListedSession] {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.query(
            """
            SELECT \(unsafeSQL: Self.listedColumns) FROM sessions session
            WHERE user_id = \(userID.uuid) AND NOT \(unsafeSQL: Self.isEnded) AND expires_at > \(now)
                AND last_used_at > \(idleStart(now))
            ORDER BY last_used_at DESC, session_id DESC LIMIT \(Int64(SessionLimits.sessionsListedMax))
            """,
            deadline: deadline
        )
        var sessions: [ListedSession] = []
        for row in rows { sessions.append(try ListedSession(row)) }
        return sessions
    }

    /// Gives a live session of an account another name.
    ///
    /// - Returns: the session; nil if the account has none of this id that is alive.
    func renameSession(
        _ sessionID: SessionID,
        of userID: UserID,
        to deviceName: String,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> ListedSession? {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let row = try await database.executeTogether(
            """
            WITH renamed AS (
                UPDATE sessions session SET device_name = \(deviceName)
                WHERE session_id = \(sessionID.uuid) AND user_id = \(userID.uuid) AND NOT \(unsafeSQL: Self.isEnded)
                    AND expires_at > \(now) AND last_used_at > \(idleStart(now))
                RETURNING \(unsafeSQL: Self.listedColumns)
            ), told AS (
                INSERT INTO security_events (event_id, user_id, session_id, kind, occurred_at, details)
                SELECT security_event_id(\(now), false), \(userID.uuid), session_id,
                    \(SecurityEvent.sessionRenamed.rawValue), \(now), '{}'
                FROM renamed
            )
            SELECT \(unsafeSQL: Self.listedColumns) FROM renamed
            """,
            key: LockKey(sessionID.uuid),
            deadline: deadline
        ).first
        guard let row else { return nil }
        return try ListedSession(row)
    }
}

extension ListedSession {
    /// The session of a row of `listedColumns`.
    fileprivate init(_ row: Row) throws(PostgresError) {
        let (sessionID, deviceName, provider, createdAt, lastUsedAt) = try row.decode(
            PostgresUUID.self,
            String?.self,
            String.self,
            PostgresTimestamp.self,
            PostgresTimestamp.self
        )
        self.init(
            sessionID: SessionID(sessionID),
            deviceName: deviceName,
            provider: provider,
            createdAtMilliseconds: createdAt.milliseconds,
            lastUsedAtMilliseconds: lastUsedAt.milliseconds
        )
    }
}
