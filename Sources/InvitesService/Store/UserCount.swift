import InvitesDomain
import Models
import Postgres
import ServiceKit
import ServiceStore

/// Quotas of users' actions, which throw this service's own error.
enum UserCount {
    /// Throws if a user has used up a quota, before their request costs others any work. Locks nothing.
    ///
    /// - Throws: ``InvitesError/tooManyAttempts(retryAfterMilliseconds:)``.
    static func requireRoom(
        _ quota: Quota,
        of userID: UserID,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        let wait = try await QuotaStore.wait(quota, of: userID.bytes, nowMilliseconds: nowMilliseconds, in: transaction)
        if let wait { throw InvitesError.tooManyAttempts(retryAfterMilliseconds: wait) }
    }

    /// Counts one more. The count's row is locked after all other locks.
    ///
    /// - Throws: ``InvitesError/tooManyAttempts(retryAfterMilliseconds:)``, which rolls back the whole transaction.
    static func spend(
        _ quota: Quota,
        of userID: UserID,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        let wait = try await QuotaStore.spend(
            quota,
            of: userID.bytes,
            nowMilliseconds: nowMilliseconds,
            in: transaction
        )
        if let wait { throw InvitesError.tooManyAttempts(retryAfterMilliseconds: wait) }
    }
}
