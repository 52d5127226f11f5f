import IdentityDomain
import Postgres

extension IdentityStore {
    /// How long an ended session is kept, so that its tokens get the reason of its end.
    static let deadSessionMilliseconds: Int64 = 30 * 86_400_000

    /// How long a fingerprint is kept after its token's end: a replica whose clock is behind would still accept the token.
    static let fingerprintMarginMilliseconds: Int64 = 600_000

    /// Forgets fingerprints of tokens that no replica would accept any more, at most `limit`, and returns how many.
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

    /// Forgets old events of the audit log, at most `limit`, and returns how many.
    func forgetSecurityEvents(nowMilliseconds: Int64, limit: Int) async throws(PostgresError) -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - limits.eventRetentionSeconds * 1000)
        let rows = try await database.execute("SELECT forget_security_events(\(before), \(Int32(clamping: limit)))")
        return Int(try rows.first?.decode(0, as: Int32.self) ?? 0)
    }

    /// Forgets sessions that ended long ago, at most `limit`, and returns how many.
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
