import IdentityDomain
import Postgres
import RPC

extension IdentityStore {
    /// Keeps what was told with credentials that can't be verified now. What is kept first stays; where too much is kept
    /// already, in all or from one address, nothing is.
    ///
    /// - Parameter addressCode: the client's address as a keyed hash; nil where it is not known.
    func keep(
        _ told: ToldOnce,
        addressCode: [UInt8]?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let end = PostgresTimestamp(milliseconds: nowMilliseconds + ToldOnce.keptSeconds * 1000)
        _ = try await database.execute(
            """
            INSERT INTO told_once (fingerprint, provider, full_name, email, address_key, created_at, expires_at)
            SELECT \(told.key), \(told.provider.value), \(told.fullName), \(told.email), \(addressCode), \(now), \(end)
            WHERE (SELECT count(*) FROM (
                    SELECT FROM told_once WHERE address_key = \(addressCode) LIMIT \(ToldOnce.perAddressMax)) theirs)
                    < \(Int64(ToldOnce.perAddressMax))
                AND (SELECT count(*) FROM (SELECT FROM told_once LIMIT \(ToldOnce.countMax)) kept)
                    < \(Int64(ToldOnce.countMax))
            ON CONFLICT (fingerprint) DO NOTHING
            """,
            deadline: deadline
        )
    }

    /// Forgets what was told with credentials that never proved themselves, at most `limit` of it, and tells how many.
    func forgetToldOnce(nowMilliseconds: Int64, limit: Int) async throws(PostgresError) -> Int {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.execute(
            """
            DELETE FROM told_once WHERE fingerprint IN (
                SELECT fingerprint FROM told_once WHERE expires_at <= \(now)
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        )
        return rows.affected
    }
}
