import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// What the row of a session says to somebody who asks about a token of it; nil if there is none. Changes nothing.
    ///
    /// - Parameter sessionsFrom: sessions that were begun before count as ended.
    func introspectedSession(
        _ sessionID: SessionID,
        sessionsFrom: PostgresTimestamp,
        deadline: Deadline?
    ) async throws(PostgresError) -> IntrospectedSession? {
        let rows = try await database.execute(
            """
            SELECT \(unsafeSQL: Self.sessionStateColumns), last_used_at, nonce, client_id,
                \(unsafeSQL: Self.base), \(unsafeSQL: Self.previous), \(unsafeSQL: Self.firstChild), scope, key_thumbprint
            FROM sessions session WHERE session_id = \(sessionID.uuid)
            """,
            deadline: deadline
        )
        guard let row = rows.first else { return nil }
        let (userID, begunAt, endsAt, proof, dialect, lastUsedAt, nonce, clientID) = try row.decode(
            PostgresUUID.self,
            PostgresTimestamp?.self,
            PostgresTimestamp.self,
            Proof.self,
            String?.self,
            PostgresTimestamp.self,
            [UInt8].self,
            String.self
        )
        return IntrospectedSession(
            state: SingleSessionState(
                session: Self.sessionState(userID, begunAt, endsAt, proof, dialect, sessionsFrom: sessionsFrom),
                lastUsedAtMilliseconds: lastUsedAt.milliseconds,
                nonce: nonce
            ),
            clientID: clientID,
            received: ReceivedNumbers(
                base: try row.decode(8),
                previous: try row.decode(9),
                firstChild: try row.decode(10)
            ),
            scope: try row.decode(11),
            signedInAtSeconds: begunAt?.secondsSince1970 ?? 0,
            key: try row.decode(12)
        )
    }
}
