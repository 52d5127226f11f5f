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
    /// The dialect in which it is opened without proof; nil if it is not.
    let unprovenDialect: String?
    /// Whether the provider says that its account is disabled.
    let isDisabled: Bool
    /// Whether the token is from before the provider said that such tokens count no more.
    let isFromBefore: Bool
    /// Whether an operator keeps the person out.
    let isBlocked: Bool
    /// Whether another account has reserved the address that was asked for.
    let isEmailTaken: Bool
}

extension IdentityStore {
    /// The account of a provider's person, and whether another one has reserved an address. Changes nothing.
    ///
    /// - Parameter issuedAtSeconds: when what names the person was issued, in Unix seconds; nil where nothing was.
    func findAccount(
        provider: ProviderName,
        subject: String,
        issuedAtSeconds: Int64?,
        reservation: EmailReservation?,
        deadline: Deadline?
    ) async throws(PostgresError) -> FoundAccount {
        let issuedAt = issuedAtSeconds.map { PostgresTimestamp(secondsSince1970: $0) }
        let row = try await database.query(
            """
            SELECT identity.user_id, account.number, identity.unproven_dialect,
                identity.disabled_at IS NOT NULL, (identity.tokens_from > \(issuedAt)) IS TRUE,
                account.blocked_at IS NOT NULL, EXISTS (
                SELECT FROM email_reservations reservation
                WHERE dialect = \(reservation?.dialect) AND email = \(reservation?.email)
                    AND (is_verified OR NOT \(reservation?.isVerified ?? false))
                    AND reservation.user_id IS DISTINCT FROM identity.user_id)
            FROM (VALUES (true)) one
            LEFT JOIN provider_identities identity ON provider = \(provider.value) AND subject = \(subject)
            LEFT JOIN accounts account ON account.user_id = identity.user_id
            """,
            deadline: deadline
        ).first
        let columns = try row?.decode(
            PostgresUUID?.self,
            Int64?.self,
            String?.self,
            Bool.self,
            Bool.self,
            Bool.self,
            Bool.self
        )
        let (userID, number, unprovenDialect, isDisabled, isFromBefore, isBlocked, isEmailTaken) =
            columns ?? (nil, nil, nil, false, false, false, false)
        return FoundAccount(
            userID: userID.map { UserID($0) },
            number: number,
            unprovenDialect: unprovenDialect,
            isDisabled: isDisabled,
            isFromBefore: isFromBefore,
            isBlocked: isBlocked,
            isEmailTaken: isEmailTaken
        )
    }
}
