import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// Whom credentials name.
struct FoundAccount: Sendable, Hashable {
    /// The account; nil if there is none yet.
    let userID: UserID?
    /// Its number; nil if it has none yet.
    let number: Int64?
    /// Whether another account has reserved the address that was asked for.
    let isEmailTaken: Bool
}

extension IdentityStore {
    /// The account of a provider's person, and whether another one has reserved an address. Changes nothing.
    func findAccount(
        provider: ProviderName,
        subject: String,
        reservation: EmailReservation?,
        deadline: Deadline?
    ) async throws(PostgresError) -> FoundAccount {
        let row = try await database.query(
            """
            SELECT identity.user_id, account.number, EXISTS (
                SELECT FROM email_reservations reservation
                WHERE dialect = \(reservation?.dialect) AND email = \(reservation?.email)
                    AND reservation.user_id IS DISTINCT FROM identity.user_id)
            FROM (VALUES (true)) one
            LEFT JOIN provider_identities identity ON provider = \(provider.value) AND subject = \(subject)
            LEFT JOIN accounts account ON account.user_id = identity.user_id
            """,
            deadline: deadline
        ).first
        guard let (userID, number, isEmailTaken) = try row?.decode(PostgresUUID?.self, Int64?.self, Bool.self) else {
            return FoundAccount(userID: nil, number: nil, isEmailTaken: false)
        }
        return FoundAccount(userID: userID.map { UserID($0) }, number: number, isEmailTaken: isEmailTaken)
    }
}
