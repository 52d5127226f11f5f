import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    private static let singleSessionState = KeyedRead(
        "\(sessionStateColumns), last_used_at, nonce",
        from: "sessions session",
        key: "session_id",
        keyType: .uuid
    )

    /// The session of a single token, if it is alive and was used within the inactivity limit: one indexed read.
    ///
    /// - Parameter sessionsFrom: sessions that were begun before count as ended.
    /// - Throws: `IdentityError`, or what the database throws.
    nonisolated(nonsending) func aliveSession(
        of claims: SingleClaims,
        sessionsFrom: PostgresTimestamp,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> SingleSessionState {
        let key = ReadKey(claims.sessionID.uuid)
        guard let row = try await database.row(Self.singleSessionState, key: key, deadline: deadline) else {
            throw IdentityError.sessionInvalid
        }
        let (userID, begunAt, endsAt, proof, dialect, lastUsedAt, nonce) = try row.decode(
            PostgresUUID.self,
            PostgresTimestamp?.self,
            PostgresTimestamp.self,
            Proof.self,
            String?.self,
            PostgresTimestamp.self,
            [UInt8].self
        )
        let state = SingleSessionState(
            session: Self.sessionState(userID, begunAt, endsAt, proof, dialect, sessionsFrom: sessionsFrom),
            lastUsedAtMilliseconds: lastUsedAt.milliseconds,
            nonce: nonce
        )
        try state.checkAlive(for: claims, limits: limits, nowMilliseconds: nowMilliseconds)
        return state
    }

    /// Writes down that a session was used now, unless another call or replica did so meanwhile.
    func recordUse(
        of sessionID: SessionID,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let recordedBefore = PostgresTimestamp(milliseconds: nowMilliseconds - limits.useRecordedSeconds * 1000)
        _ = try await database.executeTogether(
            """
            UPDATE sessions SET last_used_at = \(now)
            WHERE session_id = \(sessionID.uuid) AND revoked_at IS NULL AND last_used_at <= \(recordedBefore)
            """,
            key: LockKey(sessionID.uuid),
            deadline: deadline
        )
    }
}
