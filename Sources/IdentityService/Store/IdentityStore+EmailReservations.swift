import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

extension IdentityStore {
    /// How often a transaction that reserves an address is retried after PostgreSQL broke a deadlock.
    static let reservationRetriesMax = 3
    /// How many addresses a person may query.
    static let emailQuestions = Quota(kind: "email_questions", countMax: 20, windowMilliseconds: 3_600_000)

    /// Reserves an address for an account, replacing the one that it has in the dialect, within the caller's transaction. Of two accounts
    /// at the same moment one gets it, and the other waits for the result.
    ///
    /// A verified reservation takes an address from an account that only claimed it. That account's metadata and identities lose it, too.
    ///
    /// - Throws: `emailTaken` if it is another account's; the transaction must be undone then.
    func reserve(
        _ reservation: EmailReservation,
        for userID: UserID,
        nowMilliseconds: Int64,
        _ execute: Execute
    ) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        // Both rows that are changed, in one order: of two accounts that want each other's address, one waits.
        _ = try await execute(
            """
            SELECT FROM email_reservations
            WHERE dialect = \(reservation.dialect) AND (email = \(reservation.email) OR user_id = \(userID.uuid))
            ORDER BY email FOR UPDATE
            """
        )
        // The holder is read under the lock of its row: DO NOTHING would not report one that is committed meanwhile.
        let row = try await execute(
            """
            INSERT INTO email_reservations (dialect, email, user_id, created_at, is_verified)
            VALUES (\(reservation.dialect), \(reservation.email), \(userID.uuid), \(now), \(reservation.isVerified))
            ON CONFLICT (dialect, email) DO UPDATE SET dialect = EXCLUDED.dialect
            RETURNING user_id, is_verified
            """
        ).first
        guard let (owner, isVerified) = try row?.decode(PostgresUUID.self, Bool.self) else {
            throw IdentityError.signIn(.emailTaken)
        }
        guard owner == userID.uuid || reservation.isVerified && !isVerified else {
            throw IdentityError.signIn(.emailTaken)
        }
        // Before the account's own row is changed, which may have the only place that it has in the dialect.
        _ = try await execute(
            """
            DELETE FROM email_reservations
            WHERE user_id = \(userID.uuid) AND dialect = \(reservation.dialect) AND email <> \(reservation.email)
            """
        )
        guard reservation.isVerified, !isVerified else { return }
        _ = try await execute(
            """
            UPDATE email_reservations SET user_id = \(userID.uuid), is_verified = true, created_at = \(now)
            WHERE dialect = \(reservation.dialect) AND email = \(reservation.email)
            """
        )
        if owner != userID.uuid { try await forget(reservation, of: owner, now, execute) }
    }

    /// Removes an address from the metadata of an account that has lost it, and from what its user stated for their identities: it is
    /// shown where the metadata has none.
    private func forget(
        _ reservation: EmailReservation,
        of owner: PostgresUUID,
        _ now: PostgresTimestamp,
        _ execute: Execute
    ) async throws {
        _ = try await execute(
            """
            UPDATE provider_identities SET email = NULL
            WHERE user_id = \(owner) AND is_email_told AND NOT is_email_verified AND lower(email) = \(reservation.email)
            """
        )
        let row = try await execute("SELECT metadata FROM user_metadata WHERE user_id = \(owner) FOR UPDATE").first
        guard let stored = try row?.decode(0, as: String.self) else { return }
        let metadata = try UserMetadata(stored: stored)
        let member = reservation.metadataMember
        guard metadata.object[member] != nil else { return }
        let text = try metadata.applying(MetadataChange(removing: member)).text
        _ = try await execute(
            "UPDATE user_metadata SET metadata = \(text), updated_at = \(now) WHERE user_id = \(owner)"
        )
    }

    /// Counts a query for an address.
    ///
    /// - Parameter asker: the person that it is counted for, 32 bytes.
    /// - Throws: `IdentityError.tooManyAddresses` if they have queried too many; or what the database throws.
    func countEmailQuestion(of asker: [UInt8], nowMilliseconds: Int64, deadline: Deadline?) async throws {
        let wait = try await database.withTransaction(deadline: deadline) { transaction in
            try await QuotaStore.spend(
                Self.emailQuestions,
                of: asker,
                nowMilliseconds: nowMilliseconds,
                in: transaction
            )
        }
        if let wait { throw IdentityError.tooManyAddresses(retryAfterMilliseconds: wait) }
    }
}
