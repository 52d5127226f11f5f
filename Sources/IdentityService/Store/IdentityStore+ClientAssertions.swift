import IdentityDomain
import Postgres
import RPC

extension IdentityStore {
    /// Records that a client has shown an assertion.
    ///
    /// - Returns: whether it was the first time.
    func use(
        _ assertion: ClientAssertion,
        of clientID: String,
        deadline: Deadline?
    ) async throws(PostgresError) -> Bool {
        let end = PostgresTimestamp(milliseconds: assertion.expiresAtSeconds * 1000)
        let rows = try await database.execute(
            """
            INSERT INTO client_assertions (client_id, id_hash, expires_at)
            VALUES (\(clientID), \(assertion.idHash), \(end))
            ON CONFLICT DO NOTHING
            """,
            deadline: deadline
        )
        return rows.affected == 1
    }

    /// Deletes assertions that have expired, at most `limit`, and returns their number.
    func forgetClientAssertions(nowMilliseconds: Int64, limit: Int) async throws(PostgresError) -> Int {
        // An assertion is refused from its end on; the minute is for clocks of replicas that differ.
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - 60_000)
        return try await database.execute(
            """
            DELETE FROM client_assertions WHERE (client_id, id_hash) IN (
                SELECT client_id, id_hash FROM client_assertions WHERE expires_at <= \(before)
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
    }
}
