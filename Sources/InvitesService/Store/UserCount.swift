import InvitesDomain
import Models
import Postgres
import ServiceKit
import ServiceStore

/// Counts of what users do, which refuse by their own fault.
enum UserCount {
    /// Refuses whoever has used up a count, before what they ask for is work for anybody. Locks nothing.
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

    /// Counts one more. The count's row comes behind all other locks.
    ///
    /// - Throws: ``InvitesError/tooManyAttempts(retryAfterMilliseconds:)``, by which all that the transaction has done is undone.
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
