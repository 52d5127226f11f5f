import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// Reserves an address for an account, in the place of the one that it has in the dialect, within the caller's
    /// transaction. Of two accounts at the same moment one gets it, and the other waits to be told so.
    ///
    /// - Throws: `emailTaken` if it is another account's; the transaction must be undone then.
    func reserve(
        _ reservation: EmailReservation,
        for userID: UserID,
        nowMilliseconds: Int64,
        _ execute: Execute
    ) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        // Whoever has it is read under the lock of its row: DO NOTHING would not tell of one that is committed meanwhile.
        let owner = try await execute(
            """
            INSERT INTO email_reservations (dialect, email, user_id, created_at)
            VALUES (\(reservation.dialect), \(reservation.email), \(userID.uuid), \(now))
            ON CONFLICT (dialect, email) DO UPDATE SET dialect = EXCLUDED.dialect
            RETURNING user_id
            """
        ).first?.decode(0, as: PostgresUUID.self)
        guard owner == userID.uuid else { throw IdentityFault.signIn(.emailTaken) }
        _ = try await execute(
            """
            DELETE FROM email_reservations
            WHERE user_id = \(userID.uuid) AND dialect = \(reservation.dialect) AND email <> \(reservation.email)
            """
        )
    }
}
