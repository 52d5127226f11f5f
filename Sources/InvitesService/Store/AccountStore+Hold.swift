import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

extension AccountStore {
    /// How long refused absorptions are remembered: much longer than a call is on its way.
    static let refusedAbsorptionMilliseconds: Int64 = 86_400_000

    /// Holds a user who is in no group, in one transaction: nothing changes for them until their account is closed or reopened.
    ///
    /// Another call at the same moment may claim a number for the user, add the user's number to a group or create a group for the user. It
    /// comes before, and the account stays; or after, and gets an error that says to retry. Calls that apply events or join are ordered by
    /// the user's lock, calls that add by the number's row, and calls that create groups by the count of the user's groups.
    ///
    /// - Parameters:
    ///   - isGuest: whether the user's groups count for nothing: they join the absorbing account when this one is closed.
    ///   - groups: the quota that counts the user's groups.
    /// - Returns: whether the user is held, or was forgotten; false for an absorption that was refused before, whatever the state is now.
    /// - Throws: `InvitesError.accountHeld` while another absorption holds the user.
    func hold(
        _ userID: UserID,
        absorption: EventID,
        isGuest: Bool = false,
        groups: Quota,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Bool {
        let (user, id) = (userID.uuid, absorption.uuid)
        return try await database.withTransaction(
            retries: ConflictRetry.retriesMax,
            deadline: deadline
        ) { transaction in
            try await UserLocks.lock(userID, in: transaction)
            try await transaction.query(
                "SELECT FROM phones WHERE user_id = \(user) ORDER BY phone COLLATE \"C\" FOR UPDATE"
            )
            try await QuotaStore.lock(groups, of: userID.bytes, nowMilliseconds: nowMilliseconds, in: transaction)
            // A separate statement, since its snapshot must include what was waited for.
            let row = try await transaction.query(
                """
                SELECT EXISTS (SELECT FROM closed_accounts WHERE user_id = \(user)),
                    EXISTS (SELECT FROM refused_absorptions WHERE absorption_id = \(id)),
                    (SELECT absorption_id FROM held_accounts WHERE user_id = \(user)),
                    EXISTS (SELECT FROM groups WHERE owner_user_id = \(user))
                        OR EXISTS (SELECT FROM members WHERE user_id = \(user))
                        -- A guest's groups are joining this one.
                        OR EXISTS (SELECT FROM closed_accounts WHERE successor = \(user) AND swept_at IS NULL)
                """
            )[0]
            let (isClosed, isRefused, holder, hasGroups) = try row.decode(
                Bool.self,
                Bool.self,
                PostgresUUID?.self,
                Bool.self
            )
            if isClosed { return true }
            if isRefused { return false }
            if let holder {
                guard holder == id else { throw InvitesError.accountHeld }
                return true
            }
            let now = PostgresTimestamp(milliseconds: nowMilliseconds)
            guard isGuest || !hasGroups else {
                try await refuse(id, now, in: transaction)
                return false
            }
            try await transaction.execute(
                "INSERT INTO held_accounts (user_id, absorption_id, held_at) VALUES (\(user), \(id), \(now))"
            )
            return true
        }
    }

    /// Ends the hold of a user by an absorption, and keeps that absorption from holding the user later.
    func reopen(
        _ userID: UserID,
        absorption: EventID,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        try await database.withTransaction(retries: ConflictRetry.retriesMax, deadline: deadline) { transaction in
            try await UserLocks.lock(userID, in: transaction)
            try await refuse(absorption.uuid, now, in: transaction)
            try await transaction.execute(
                "DELETE FROM held_accounts WHERE user_id = \(userID.uuid) AND absorption_id = \(absorption.uuid)"
            )
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

    private func refuse(
        _ absorption: PostgresUUID,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            """
            INSERT INTO refused_absorptions (absorption_id, refused_at) VALUES (\(absorption), \(now))
            ON CONFLICT (absorption_id) DO NOTHING
            """
        )
    }
}
