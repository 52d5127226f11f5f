import InvitesDomain
import Models
import Postgres
import RPC
import ServiceModels
import ServiceStore

/// What is forgotten of users whose accounts were closed, in PostgreSQL.
struct AccountStore: Sendable {
    /// For how long it is known whose accounts were closed: much longer than an event of profile waits.
    static let closedAccountMilliseconds: Int64 = 60 * 86_400_000
    /// How long after a closing is looked for what was under way in that moment: longer than any transaction takes.
    static let sweepMilliseconds: Int64 = 60_000
    /// Who has added a member whose account was closed since: nobody.
    static let nobody = PostgresUUID(high: 0, low: 0)
    /// The same as SQL; not as it is written elsewhere, since statements stand in traces, where no id of a person may be.
    static let nobodySQL = "lpad('', 32, '0')::uuid"
    /// How often a closing is begun anew because a group that was to be deleted got a member meanwhile.
    private static let triesMax = 4

    let database: PostgresClient

    /// A group that was to be deleted got a member in that moment, who is to have it.
    private struct GroupInherited: Error {}

    /// Forgets a user, in one transaction; what was forgotten before stays so.
    ///
    /// Locks are taken in the order that all others keep: the row of `holding`, by which those who link wait, the user's numbers, by
    /// which those who add wait, groups, in the order of their ids, then counts of quotas. So whoever links or adds the user comes
    /// before, and is seen here, or after, and finds the account closed and its numbers nobody's. A transaction that began before and
    /// doesn't see that the account is closed may still make the user a group: what it leaves is forgotten by
    /// ``sweep(nowMilliseconds:limit:)``.
    func close(_ userID: UserID, nowMilliseconds: Int64, deadline: Deadline?) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        var triesLeft = Self.triesMax
        while true {
            triesLeft -= 1
            do {
                return try await database.withTransaction(
                    retries: ConflictRetry.retriesMax,
                    deadline: deadline
                ) { transaction in
                    try await release(numbersOf: userID, in: transaction)
                    try await transaction.execute(
                        """
                        WITH released AS (DELETE FROM held_accounts WHERE user_id = \(userID.uuid))
                        INSERT INTO closed_accounts (user_id, closed_at) VALUES (\(userID.uuid), \(now))
                        ON CONFLICT (user_id) DO NOTHING
                        """
                    )
                    try await forget(userID, in: transaction)
                }
            } catch let error as GroupInherited {
                guard triesLeft > 0 else { throw PostgresError.unavailable("\(error)") }
            }
        }
    }

    /// Forgets once more those whose accounts were closed a while ago, at most `limit` of them, and tells how many.
    func sweep(nowMilliseconds: Int64, limit: Int) async throws -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.sweepMilliseconds)
        let rows = try await database.query(
            """
            SELECT user_id FROM closed_accounts WHERE swept_at IS NULL AND closed_at <= \(before)
            ORDER BY closed_at LIMIT \(limit)
            """
        )
        for row in rows {
            let userID = UserID(try row.decode(0, as: PostgresUUID.self))
            try await close(userID, nowMilliseconds: nowMilliseconds, deadline: nil)
            try await database.execute(
                """
                UPDATE closed_accounts SET swept_at = \(PostgresTimestamp(milliseconds: nowMilliseconds))
                WHERE user_id = \(userID.uuid)
                """
            )
        }
        return rows.count
    }

    /// Forgets which accounts were closed long ago, at most `limit` of them, and tells how many.
    func forgetClosedAccounts(nowMilliseconds: Int64, limit: Int) async throws -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.closedAccountMilliseconds)
        return try await database.execute(
            """
            DELETE FROM closed_accounts WHERE user_id IN (
                SELECT user_id FROM closed_accounts WHERE closed_at <= \(before) AND swept_at IS NOT NULL
                ORDER BY closed_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
    }

    // MARK: - Steps of a closing

    /// The numbers that profile has told to be the user's are nobody's; its release comes later, and finds them so.
    private func release(numbersOf userID: UserID, in transaction: PostgresTransaction) async throws {
        try await transaction.query("SELECT FROM holding FOR UPDATE")
        try await transaction.execute(
            """
            WITH theirs AS MATERIALIZED (
                SELECT phone FROM phones WHERE user_id = \(userID.uuid) ORDER BY phone COLLATE "C" FOR UPDATE
            )
            UPDATE phones SET user_id = NULL FROM theirs WHERE phones.phone = theirs.phone
            """
        )
    }

    private func forget(_ userID: UserID, in transaction: PostgresTransaction) async throws {
        let user = userID.uuid
        let groups = try await transaction.query(
            """
            SELECT group_id FROM groups
            WHERE group_id IN (
                SELECT group_id FROM groups WHERE owner_user_id = \(user)
                UNION SELECT group_id FROM groups WHERE created_by = \(user)
                UNION SELECT group_id FROM members WHERE user_id = \(user))
            ORDER BY group_id FOR UPDATE
            """
        ).map { try $0.decode(0, as: PostgresUUID.self) }
        if !groups.isEmpty {
            try await Self.leave(groups, user, in: transaction)
            try await hand(on: groups, user, in: transaction)
            try await transaction.execute(
                "UPDATE groups SET created_by = \(Self.nobody) WHERE group_id = ANY(\(groups)) AND created_by = \(user)"
            )
        }
        try await transaction.execute(
            """
            UPDATE members SET declined_by = NULL, also_added_by = array_remove(also_added_by, \(Self.nobody))
            WHERE declined_by = \(user)
            """
        )
        try await transaction.execute(
            """
            WITH withdrawn AS (DELETE FROM join_requests WHERE user_id = \(user)),
                unused AS (DELETE FROM group_link_uses WHERE user_id = \(user)),
                unblocked AS (DELETE FROM blocked_inviters WHERE user_id = \(user) OR inviter_user_id = \(user)),
                untold AS (DELETE FROM event_outbox WHERE user_id = \(user)),
                unasked AS (DELETE FROM asked_numbers WHERE user_id = \(user)),
                merged AS (DELETE FROM merged_numbers WHERE user_id = \(user))
            DELETE FROM group_keys WHERE user_id = \(user)
            """
        )
        // Behind all that triggers tell of it.
        try await transaction.execute("DELETE FROM group_events WHERE user_id = \(user)")
        try await QuotaStore.forget(subject: userID.bytes, in: transaction)
    }

    /// Takes a user out of groups, which are locked. Nothing of them is left there: whom they added was added by who added them next, or by
    /// nobody, and whom they confirmed was confirmed by nobody, so that closing the account later has to look for nothing in groups that
    /// they left. Whoever blocks them is not wanted by their leaving: what waits for such a person by nobody else is declined.
    static func leave(
        _ groups: [PostgresUUID],
        _ user: PostgresUUID,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            """
            WITH merged AS (DELETE FROM merged_numbers WHERE group_id = ANY(\(groups)) AND user_id = \(user))
            DELETE FROM members WHERE group_id = ANY(\(groups)) AND user_id = \(user)
            """
        )
        try await disown(groups, user, in: transaction)
    }

    /// Has groups, which are locked, forget what a user did in them who is no member any more: whom they added was added by who added them
    /// next, or by nobody.
    static func disown(
        _ groups: [PostgresUUID],
        _ user: PostgresUUID,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            """
            UPDATE members m
            SET added_by = \(Self.nobody), also_added_by = ARRAY[\(Self.nobody)]::uuid[], declined_by = p.user_id
            FROM phones p JOIN blocked_inviters b ON b.user_id = p.user_id AND b.inviter_user_id = \(user)
            WHERE m.group_id = ANY(\(groups)) AND m.user_id IS NULL AND m.added_by = \(user) AND m.also_added_by = '{}'
                AND p.phone = m.phone AND m.declined_by IS DISTINCT FROM p.user_id
            """
        )
        try await transaction.execute(
            """
            WITH merged AS (
                UPDATE merged_numbers SET added_by = \(Self.nobody)
                WHERE group_id = ANY(\(groups)) AND added_by = \(user) AND user_id <> \(user)
            )
            UPDATE members SET
                added_by = CASE WHEN added_by = \(user) THEN COALESCE(also_added_by[1], \(Self.nobody)) ELSE added_by END,
                also_added_by = CASE WHEN added_by = \(user) THEN also_added_by[2:] ELSE array_remove(also_added_by, \(user)) END,
                confirmed_by = CASE WHEN confirmed_by = \(user) THEN \(Self.nobody) ELSE confirmed_by END
            WHERE group_id = ANY(\(groups)) AND (added_by = \(user) OR confirmed_by = \(user) OR \(user) = ANY(also_added_by))
            """
        )
        try await transaction.execute(
            """
            UPDATE group_links SET created_by = \(Self.nobody)
            WHERE group_id = ANY(\(groups)) AND created_by = \(user)
            """
        )
    }

    /// Gives a user's groups, which are locked and which the user has left, to their admins, else to plain members, and of these to who has
    /// been in them for longest. Where nobody is a member they stay.
    static func giveToHeirs(
        _ groups: [PostgresUUID],
        of user: PostgresUUID,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            """
            UPDATE groups g SET owner_user_id = heir.user_id, created_by = COALESCE(g.created_by, g.owner_user_id)
            FROM (
                SELECT DISTINCT ON (group_id) group_id, user_id FROM members
                WHERE group_id = ANY(\(groups)) AND user_id IS NOT NULL
                ORDER BY group_id, role = \(GroupRole.admin.rawValue) DESC, linked_at, member_id
            ) AS heir
            WHERE g.group_id = heir.group_id AND g.owner_user_id = \(user)
            """
        )
    }

    /// Gives the user's groups to their heirs, and deletes those without a member.
    private func hand(
        on groups: [PostgresUUID],
        _ user: PostgresUUID,
        in transaction: PostgresTransaction
    ) async throws {
        try await Self.giveToHeirs(groups, of: user, in: transaction)
        // Whoever is linked at this moment by a replica of the version before holds the row that this waits for, and is no pending member
        // after it.
        try await transaction.execute(
            """
            DELETE FROM members m USING groups g
            WHERE g.group_id = ANY(\(groups)) AND g.owner_user_id = \(user) AND m.group_id = g.group_id
                AND m.user_id IS NULL
            """
        )
        try await transaction.execute(
            """
            DELETE FROM groups g WHERE g.group_id = ANY(\(groups)) AND g.owner_user_id = \(user)
                AND NOT EXISTS (SELECT FROM members m WHERE m.group_id = g.group_id)
            """
        )
        let left = try await transaction.query(
            "SELECT FROM groups WHERE group_id = ANY(\(groups)) AND owner_user_id = \(user)"
        )
        guard left.isEmpty else { throw GroupInherited() }
    }
}
