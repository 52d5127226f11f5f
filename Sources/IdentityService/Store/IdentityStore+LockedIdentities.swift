import IdentityDomain
import Models
import Postgres
import ServiceModels

/// An identity whose row is locked.
struct LockedIdentity: Sendable, Hashable {
    let provider: String
    let subject: String
    let userID: UserID
    /// Whether the provider says that its account is disabled.
    let isDisabled: Bool
    /// From when on tokens must have been issued; nil for any time.
    let tokensFrom: PostgresTimestamp?
    /// Whether it was registered without proof, and nobody has proven it since.
    let isUnproven: Bool
    /// When it came to its account.
    let linkedAt: PostgresTimestamp

    /// Whether it opens its account everywhere, if its provider is configured.
    var mayOpen: Bool { !isDisabled && !isUnproven }
}

extension IdentityStore {
    /// Locks identities until the transaction ends, in the order of their names as all do that lock several: those of accounts, and
    /// the one of credentials, whosever it is.
    ///
    /// - Returns: all of them, as they are once all are locked. No account gets one more while its row is locked too and its others
    ///   are; the one of credentials may appear if it isn't among them.
    func lockIdentities(
        of users: [UserID],
        and signIn: SignIn? = nil,
        in transaction: PostgresTransaction
    ) async throws -> [LockedIdentity] {
        var known: [LockedIdentity] = []
        while true {
            let rows = try await transaction.query(
                """
                SELECT provider, subject, user_id, disabled_at IS NOT NULL, tokens_from, unproven_dialect IS NOT NULL,
                    COALESCE(linked_at, created_at)
                FROM provider_identities
                WHERE user_id = ANY(\(users.map(\.uuid)))
                    OR provider = \(signIn?.provider.value) AND subject = \(signIn?.subject)
                ORDER BY provider, subject FOR UPDATE
                """
            )
            let locked = try rows.map { row in
                let (provider, subject, userID, isDisabled, tokensFrom, isUnproven, linkedAt) = try row.decode(
                    String.self,
                    String.self,
                    PostgresUUID.self,
                    Bool.self,
                    PostgresTimestamp?.self,
                    Bool.self,
                    PostgresTimestamp.self
                )
                return LockedIdentity(
                    provider: provider,
                    subject: subject,
                    userID: UserID(userID),
                    isDisabled: isDisabled,
                    tokensFrom: tokensFrom,
                    isUnproven: isUnproven,
                    linkedAt: linkedAt
                )
            }
            // Once more, if there was anything to wait for: the snapshot is from before it, and doesn't have what came meanwhile.
            if locked == known { return locked }
            known = locked
        }
    }
}
