import InvitesDomain
import Models
import Postgres
import RPC
import ServiceModels

/// A guest's account that another one has absorbed: this one takes its place in groups, as a part of the deletion of the guest's data.
extension AccountStore {
    /// The account that takes a closed one's place; nil for none, and for one that is closed itself.
    static func successor(
        of user: PostgresUUID,
        in transaction: PostgresTransaction
    ) async throws -> PostgresUUID? {
        try await transaction.query(
            """
            SELECT successor FROM closed_accounts gone WHERE user_id = \(user) AND successor IS NOT NULL
                AND NOT EXISTS (SELECT FROM closed_accounts other WHERE other.user_id = gone.successor)
            """
        ).first?.decode(0, as: PostgresUUID.self)
    }

    /// Puts the successor in the place of a user in groups, which are locked: as member, owner, and as who added and confirmed others. If
    /// both are members the higher role stays, and the user's membership is left for deletion. Limits of how many groups a user is in don't
    /// count here, since the guest was in all of them.
    static func succeed(
        _ user: PostgresUUID,
        by successor: PostgresUUID,
        in groups: [PostgresUUID],
        in transaction: PostgresTransaction
    ) async throws {
        let admin = GroupRole.admin.rawValue
        try await transaction.execute(
            """
            UPDATE members own SET role = \(admin), unconfirmed_at = NULL FROM members theirs
            WHERE own.group_id = ANY(\(groups)) AND own.user_id = \(successor) AND own.role <> \(admin)
                AND theirs.group_id = own.group_id AND theirs.user_id = \(user) AND theirs.role = \(admin)
            """
        )
        try await transaction.execute(
            """
            UPDATE members m SET user_id = \(successor) WHERE group_id = ANY(\(groups)) AND user_id = \(user) AND NOT EXISTS (
                SELECT FROM members own WHERE own.group_id = m.group_id AND own.user_id = \(successor))
            """
        )
        // Those of a group where the guest only left traces are kept, and handed over with the rest.
        try await transaction.execute(
            """
            DELETE FROM join_requests asked WHERE group_id = ANY(\(groups)) AND user_id = ANY(\([user, successor]))
                AND EXISTS (SELECT FROM members own WHERE own.group_id = asked.group_id AND own.user_id = \(successor))
            """
        )
        try await transaction.execute(
            """
            UPDATE groups SET owner_user_id = CASE WHEN owner_user_id = \(user) THEN \(successor) ELSE owner_user_id END,
                created_by = CASE WHEN created_by = \(user) THEN \(successor) ELSE created_by END
            WHERE group_id = ANY(\(groups)) AND (owner_user_id = \(user) OR created_by = \(user))
            """
        )
        try await transaction.execute(
            """
            WITH merged AS (
                UPDATE merged_numbers SET added_by = \(successor)
                WHERE group_id = ANY(\(groups)) AND added_by = \(user) AND user_id <> \(user)
            ), touched AS MATERIALIZED (
                SELECT group_id, member_id FROM members WHERE added_by = \(user) AND group_id = ANY(\(groups))
                UNION SELECT group_id, member_id FROM members WHERE confirmed_by = \(user) AND group_id = ANY(\(groups))
                UNION SELECT group_id, member_id FROM members
                    WHERE also_added_by @> ARRAY[\(user)]::uuid[] AND also_added_by <> '{}' AND group_id = ANY(\(groups))
            )
            UPDATE members m SET
                added_by = CASE WHEN added_by = \(user) THEN \(successor) ELSE added_by END,
                -- Each adder once.
                also_added_by = CASE WHEN added_by = \(user) THEN array_remove(also_added_by, \(successor))
                    WHEN added_by = \(successor) OR \(successor) = ANY(also_added_by) THEN array_remove(also_added_by, \(user))
                    ELSE array_replace(also_added_by, \(user), \(successor)) END,
                confirmed_by = CASE WHEN confirmed_by = \(user) THEN \(successor) ELSE confirmed_by END
            FROM touched WHERE m.group_id = touched.group_id AND m.member_id = touched.member_id
            """
        )
    }

    /// Hands on to the successor what a user has outside groups, a part of it: requests to join, where the successor is neither a member nor
    /// asks, and blocks of inviters by the user and against the user.
    ///
    /// - Returns: whether there may be more.
    func handOverRest(of user: PostgresUUID, deadline: Deadline) async throws -> Bool {
        try await database.withTransaction(retries: ConflictRetry.retriesMax, deadline: deadline) { transaction in
            guard let successor = try await Self.successor(of: user, in: transaction) else { return false }
            // The groups' locks come first, as by everybody who joins.
            let groups = try await transaction.query(
                """
                SELECT group_id FROM groups WHERE group_id IN (
                    SELECT r.group_id FROM join_requests r WHERE r.user_id = \(user)
                        AND NOT EXISTS (
                            SELECT FROM join_requests own WHERE own.group_id = r.group_id AND own.user_id = \(successor))
                        AND NOT EXISTS (
                            SELECT FROM members own WHERE own.group_id = r.group_id AND own.user_id = \(successor))
                    ORDER BY r.group_id LIMIT \(Self.groupsTogetherMax))
                ORDER BY group_id FOR UPDATE
                """
            ).map { try $0.decode(0, as: PostgresUUID.self) }
            try await transaction.execute(
                """
                UPDATE join_requests r SET user_id = \(successor) WHERE user_id = \(user) AND group_id = ANY(\(groups))
                    AND NOT EXISTS (
                        SELECT FROM join_requests own WHERE own.group_id = r.group_id AND own.user_id = \(successor))
                """
            )
            let blocks = try await transaction.execute(
                """
                WITH theirs AS (
                    DELETE FROM blocked_inviters WHERE (user_id, inviter_user_id) IN (
                        SELECT user_id, inviter_user_id FROM blocked_inviters
                        WHERE user_id = \(user) OR inviter_user_id = \(user) LIMIT \(Self.rowsTogetherMax))
                    RETURNING CASE WHEN user_id = \(user) THEN \(successor) ELSE user_id END AS user_id,
                        CASE WHEN inviter_user_id = \(user) THEN \(successor) ELSE inviter_user_id END AS inviter_user_id,
                        blocked_at
                ), handed AS (
                    INSERT INTO blocked_inviters (user_id, inviter_user_id, blocked_at)
                    SELECT user_id, inviter_user_id, blocked_at FROM theirs WHERE user_id <> inviter_user_id
                    ON CONFLICT (user_id, inviter_user_id) DO NOTHING
                )
                SELECT count(*) FROM theirs
                """
            )[0]
            let count = try blocks.decode(0, as: Int64.self)
            return groups.count == Self.groupsTogetherMax || count == Int64(Self.rowsTogetherMax)
        }
    }
}
