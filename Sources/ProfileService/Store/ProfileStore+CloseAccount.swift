import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// What a change of a profile came to.
enum UpdateOutcome: Sendable {
    /// The profile is as wanted; `hasEvents` if others must be told of it.
    case saved(Profile, hasEvents: Bool)
    /// Somebody has what was claimed. This is what to answer unless their account was closed.
    case held(by: UserID, ProfileError)
}

extension ProfileStore {
    /// For how long it is known whose accounts were closed: much longer than any call that was let in before is on its way.
    static let closedAccountMilliseconds: Int64 = 60 * 86_400_000

    /// Forgets a user whose account was closed, in one transaction; what was forgotten before stays so.
    ///
    /// The profile's row is the lock under which everything of the user is saved, also while there is none: whoever saves at the
    /// same moment comes before and is forgotten too, or after and is refused.
    ///
    /// - Returns: whether others must be told that the number is free.
    func close(_ userID: UserID, nowMilliseconds: Int64, deadline: Deadline?) async throws -> Bool {
        try await database.withTransaction(retries: Self.retriesMax, deadline: deadline) { transaction in
            let row = try await transaction.execute(
                """
                INSERT INTO profiles (user_id) VALUES (\(userID.uuid))
                ON CONFLICT (user_id) DO UPDATE SET user_id = excluded.user_id
                RETURNING phone, username
                """
            )[0]
            let (phone, username) = try row.decode(String?.self, String?.self)
            let now = PostgresTimestamp(milliseconds: nowMilliseconds)
            let rows = try await transaction.execute(
                """
                WITH closed AS (
                    INSERT INTO closed_accounts (user_id, closed_at) VALUES (\(userID.uuid), \(now))
                    ON CONFLICT (user_id) DO NOTHING
                ), freed_phone AS (
                    DELETE FROM phones WHERE phone = \(phone) AND user_id = \(userID.uuid) RETURNING phone
                ), freed_username AS (
                    DELETE FROM usernames
                    WHERE username_key = \(username.map { Username(stored: $0).key }) AND user_id = \(userID.uuid)
                ), forgotten AS (
                    DELETE FROM profiles WHERE user_id = \(userID.uuid)
                ), untold AS (
                    DELETE FROM event_outbox WHERE user_id = \(userID.uuid)
                )
                INSERT INTO outbox (event_id, kind, phone, user_id, created_at, by_deletion, trace)
                SELECT \(identifiers.make(EventID.self).uuid), 'released', phone, \(userID.uuid), \(now), true, \(Traces.current)
                FROM freed_phone
                """
            )
            try await forgetProofs(of: userID, in: transaction)
            try await QuotaStore.forget(subject: userID.bytes, in: transaction)
            return rows.affected > 0
        }
    }

    /// Forgets which accounts were closed long ago, at most `limit` of them, and tells how many.
    func forgetClosedAccounts(nowMilliseconds: Int64, limit: Int) async throws -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.closedAccountMilliseconds)
        return try await database.execute(
            """
            DELETE FROM closed_accounts WHERE user_id IN (
                SELECT user_id FROM closed_accounts WHERE closed_at <= \(before)
                ORDER BY closed_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
    }
}
