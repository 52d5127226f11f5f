import IdentityDomain
import Models
import Postgres
import ServiceModels

/// An access token of this number was used.
struct NumberSeen: Sendable, Hashable {
    let sessionID: SessionID
    let number: UInt32
}

extension IdentityStore {
    /// Writes down which numbers were received, and ends sessions of which two hold tokens. The rows decide, as they are when
    /// they are locked: what was written meanwhile counts.
    ///
    /// Rows that somebody else has locked are passed over, and left to a later use: who waited for one would hold up all others of
    /// the statement meanwhile, which are strangers'. So it never waits, and locks them in any order.
    ///
    /// - Parameter seen: at most one of a session.
    /// - Returns: how many sessions were looked at, and how many of them were ended.
    func acknowledge(
        _ seen: [NumberSeen],
        nowMilliseconds: Int64
    ) async throws(PostgresError) -> (judged: Int, ended: Int) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let graceStart = PostgresTimestamp(milliseconds: nowMilliseconds - limits.refreshGraceSeconds * 1000)
        let rows = try await database.execute(
            """
            WITH judged AS MATERIALIZED (
                SELECT session.session_id, seen.number, session.generation, \(unsafeSQL: Self.base) AS base,
                    CASE
                        WHEN seen.number > session.generation THEN 'unknown'
                        WHEN seen.number >= \(unsafeSQL: Self.firstChild) THEN 'received'
                        WHEN seen.number > \(unsafeSQL: Self.previous) AND seen.number <> \(unsafeSQL: Self.base)
                            AND \(unsafeSQL: Self.acknowledgedAt) <= \(graceStart) THEN 'reused'
                        ELSE 'known'
                    END AS verdict
                FROM sessions session
                JOIN unnest(\(seen.map(\.sessionID.uuid)), \(seen.map { Int64($0.number) })) AS seen (session_id, number)
                    ON seen.session_id = session.session_id
                WHERE session.revoked_at IS NULL
                FOR UPDATE OF session SKIP LOCKED
            ), received AS (
                UPDATE sessions session SET previous = judged.base, base = judged.number,
                    first_child = judged.generation + 1, acknowledged_at = \(now)
                FROM judged WHERE session.session_id = judged.session_id AND verdict = 'received'
            ), ended AS (
                UPDATE sessions session SET revoked_at = \(now), revoke_reason = 'reuse',
                    expires_at = LEAST(session.expires_at, \(now))
                FROM judged WHERE session.session_id = judged.session_id AND verdict = 'reused'
            )
            SELECT count(*), count(*) FILTER (WHERE verdict = 'reused') FROM judged
            """
        )
        guard let (judged, ended) = try rows.first?.decode(Int64.self, Int64.self) else { return (0, 0) }
        return (Int(judged), Int(ended))
    }
}
