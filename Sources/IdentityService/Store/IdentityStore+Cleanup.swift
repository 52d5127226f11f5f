import IdentityDomain
import Postgres

extension IdentityStore {
    /// For how long a session that is over is kept, so that its tokens are told what became of it.
    static let deadSessionMilliseconds: Int64 = 30 * 86_400_000

    /// For how long a fingerprint is kept after its token's end: a replica whose clock is behind would still accept it.
    static let fingerprintMarginMilliseconds: Int64 = 600_000

    /// Forgets fingerprints of tokens that nobody would accept any more, at most `limit` of them, and tells how many.
    func forgetSignIns(nowMilliseconds: Int64, limit: Int) async throws(PostgresError) -> Int {
        let refusedBefore = PostgresTimestamp(milliseconds: nowMilliseconds - Self.fingerprintMarginMilliseconds)
        let rows = try await database.execute(
            """
            DELETE FROM sign_ins WHERE fingerprint IN (
                SELECT fingerprint FROM sign_ins WHERE expires_at <= \(refusedBefore)
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        )
        return rows.affected
    }

    /// Forgets what the audit log told long ago, at most `limit` of it, and tells how much.
    func forgetSecurityEvents(nowMilliseconds: Int64, limit: Int) async throws(PostgresError) -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - limits.eventRetentionSeconds * 1000)
        let rows = try await database.execute("SELECT forget_security_events(\(before), \(Int32(clamping: limit)))")
        return Int(try rows.first?.decode(0, as: Int32.self) ?? 0)
    }

    /// Forgets sessions that ended long ago, at most `limit` of them, and tells how many.
    func forgetSessions(nowMilliseconds: Int64, limit: Int) async throws(PostgresError) -> Int {
        let endedBefore = PostgresTimestamp(milliseconds: nowMilliseconds - Self.deadSessionMilliseconds)
        let rows = try await database.execute(
            """
            DELETE FROM sessions WHERE session_id IN (
                SELECT session_id FROM sessions WHERE expires_at <= \(endedBefore)
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        )
        return rows.affected
    }
}
