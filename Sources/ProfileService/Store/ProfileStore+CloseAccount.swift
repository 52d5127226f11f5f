import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// The outcome of a profile change.
enum UpdateOutcome: Sendable {
    /// The profile is as wanted; `hasEvents` if events must be delivered.
    case saved(Profile, hasEvents: Bool)
    /// Another user has what was claimed. This is the error to return unless that account was closed.
    case held(by: UserID, ProfileError)
}

extension ProfileStore {
    /// How long closed accounts are remembered: much longer than any earlier call is on its way.
    static let closedAccountMilliseconds: Int64 = 60 * 86_400_000

    /// Deletes the data of a user whose account was closed, in one transaction; a repeated call changes nothing.
    ///
    /// The profile's row is the lock under which all the user's data is saved, even before there is one: a concurrent save comes before and
    /// is deleted too, or after and is refused.
    ///
    /// - Returns: whether an event that the number is free must be delivered.
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
                    DELETE FROM work WHERE user_id = \(userID.uuid) AND queue = \(ServiceEventWork.queue)
                )
                INSERT INTO work (queue, event_id, key, user_id, created_at, trace, data)
                SELECT \(PhoneEventWork.queue), \(identifiers.make(EventID.self).uuid), phone, \(userID.uuid), \(now), \(Traces.current),
                    jsonb_build_object('kind', 'released', 'by_deletion', true)
                FROM freed_phone
                """
            )
            try await forgetProofs(of: userID, in: transaction)
            try await QuotaStore.forget(subject: userID.bytes, in: transaction)
            return rows.affected > 0
        }
    }

    /// Deletes records of accounts that were closed long ago, at most `limit` of them, and returns how many.
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
