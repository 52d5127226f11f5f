import Postgres

extension IdentityStore {
    /// The most rows of each table that one round deletes, so that no round holds locks for long.
    static let cleanupRowsMax = 1_000
    /// For how long a session that is over is kept, so that its tokens are told what became of it.
    static let deadSessionMilliseconds: Int64 = 30 * 86_400_000

    /// For how long a fingerprint is kept after its token's end: a replica whose clock is behind would still accept it.
    static let fingerprintMarginMilliseconds: Int64 = 600_000

    /// Deletes fingerprints of tokens that nobody would accept any more, and sessions that ended long ago.
    ///
    /// - Returns: whether a table had more to delete than one round may.
    func deleteExpired(nowMilliseconds: Int64) async throws(PostgresError) -> Bool {
        let refusedBefore = PostgresTimestamp(milliseconds: nowMilliseconds - Self.fingerprintMarginMilliseconds)
        let signIns = try await database.execute(
            """
            DELETE FROM sign_ins WHERE fingerprint IN (
                SELECT fingerprint FROM sign_ins WHERE expires_at <= \(refusedBefore)
                ORDER BY expires_at LIMIT \(Self.cleanupRowsMax) FOR UPDATE SKIP LOCKED)
            """
        )
        let endedBefore = PostgresTimestamp(milliseconds: nowMilliseconds - Self.deadSessionMilliseconds)
        let sessions = try await database.execute(
            """
            DELETE FROM sessions WHERE session_id IN (
                SELECT session_id FROM sessions WHERE expires_at <= \(endedBefore)
                ORDER BY expires_at LIMIT \(Self.cleanupRowsMax) FOR UPDATE SKIP LOCKED)
            """
        )
        return max(signIns.affected, sessions.affected) >= Self.cleanupRowsMax
    }
}
