import Models
import Postgres
import ProfileDomain
import RPC
import ServiceModels
import ServiceStore

extension ProfileStore {
    /// How long refused absorptions are remembered: much longer than a call is on its way.
    static let refusedAbsorptionMilliseconds: Int64 = 86_400_000

    /// Deletes a user who has neither a number nor a username, and no undelivered events, in one transaction. A name and a picture are
    /// deleted too.
    ///
    /// The profile's row is the lock under which all the user's data is saved, even before there is one: a concurrent save of a number
    /// comes before and the account stays, or after and is refused.
    ///
    /// - Parameter isGuest: whether a username counts for nothing: that of the absorbing account holds.
    /// - Returns: whether the user is deleted; false for an absorption that was refused before, whatever the state is now.
    func closeIfEmpty(
        _ userID: UserID,
        absorption: EventID,
        isGuest: Bool = false,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Bool {
        let (user, id) = (userID.uuid, absorption.uuid)
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await database.withTransaction(retries: Self.retriesMax, deadline: deadline) { transaction in
            let profile = try await transaction.execute(
                """
                INSERT INTO profiles (user_id) VALUES (\(user)) ON CONFLICT (user_id) DO UPDATE SET user_id = excluded.user_id
                RETURNING phone IS NULL AND (username IS NULL OR \(isGuest)), username
                """
            )[0]
            let (hasNothing, username) = try profile.decode(Bool.self, String?.self)
            // A separate statement, since the one before may have waited for a save.
            let around = try await transaction.query(
                """
                SELECT EXISTS (SELECT FROM closed_accounts WHERE user_id = \(user)),
                    EXISTS (SELECT FROM refused_absorptions WHERE absorption_id = \(id)),
                    EXISTS (SELECT FROM work WHERE queue = \(PhoneEventWork.queue)
                        AND (user_id = \(user) OR (data ->> 'taken_from')::uuid = \(user)))
                """
            )[0]
            let (isClosed, isRefused, isUnderWay) = try around.decode(Bool.self, Bool.self, Bool.self)
            let isEmpty = hasNothing && !isRefused && !isUnderWay
            guard isClosed || isEmpty else {
                try await transaction.execute(
                    """
                    INSERT INTO refused_absorptions (absorption_id, refused_at) VALUES (\(id), \(now))
                    ON CONFLICT (absorption_id) DO NOTHING
                    """
                )
                return false
            }
            try await transaction.execute(
                """
                WITH closed AS (
                    INSERT INTO closed_accounts (user_id, closed_at) VALUES (\(user), \(now))
                    ON CONFLICT (user_id) DO NOTHING
                ), freed_username AS (
                    DELETE FROM usernames
                    WHERE username_key = \(username.map { Username(stored: $0).key }) AND user_id = \(user)
                ), untold AS (
                    DELETE FROM work WHERE user_id = \(user) AND queue = \(ServiceEventWork.queue)
                )
                DELETE FROM profiles WHERE user_id = \(user)
                """
            )
            try await forgetProofs(of: userID, in: transaction)
            try await QuotaStore.forget(subject: userID.bytes, in: transaction)
            return true
        }
    }

    /// Deletes absorptions that were refused long ago, at most `limit` of them, and returns how many.
    func forgetRefusedAbsorptions(nowMilliseconds: Int64, limit: Int) async throws -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.refusedAbsorptionMilliseconds)
        return try await database.execute(
            """
            DELETE FROM refused_absorptions WHERE absorption_id IN (
                SELECT absorption_id FROM refused_absorptions WHERE refused_at <= \(before)
                ORDER BY refused_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
    }
}
