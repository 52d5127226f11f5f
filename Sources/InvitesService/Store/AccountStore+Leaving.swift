import InvitesDomain
import Models
import Postgres

/// Removes a user's traces from groups, in transactions that have the groups locked.
extension AccountStore {
    /// Removes a user from groups, which are locked. No trace of the user is left there: a person whom the user added counts as added by
    /// the next user who added them, or by nobody, and a person whom the user confirmed counts as confirmed by nobody. So closing the
    /// account later doesn't have to search groups that the user left. If a person blocks the user and nobody else added the person, the
    /// invitation is declined.
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

    /// Removes the traces of a former member from groups, which are locked: a person whom the user added counts as added by the next user
    /// who added them, or by nobody. Indexes of adders and confirmers find the rows: a group's other members are not read.
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
            ), touched AS MATERIALIZED (
                SELECT group_id, member_id FROM members WHERE added_by = \(user) AND group_id = ANY(\(groups))
                UNION SELECT group_id, member_id FROM members WHERE confirmed_by = \(user) AND group_id = ANY(\(groups))
                UNION SELECT group_id, member_id FROM members
                    WHERE also_added_by @> ARRAY[\(user)]::uuid[] AND also_added_by <> '{}' AND group_id = ANY(\(groups))
            )
            UPDATE members m SET
                added_by = CASE WHEN added_by = \(user) THEN COALESCE(also_added_by[1], \(Self.nobody)) ELSE added_by END,
                also_added_by = CASE WHEN added_by = \(user) THEN also_added_by[2:] ELSE array_remove(also_added_by, \(user)) END,
                confirmed_by = CASE WHEN confirmed_by = \(user) THEN \(Self.nobody) ELSE confirmed_by END
            FROM touched
            WHERE m.group_id = touched.group_id AND m.member_id = touched.member_id
                AND (added_by = \(user) OR confirmed_by = \(user) OR \(user) = ANY(also_added_by))
            """
        )
        try await transaction.execute(
            """
            UPDATE group_links SET created_by = \(Self.nobody)
            WHERE group_id = ANY(\(groups)) AND created_by = \(user)
            """
        )
    }

    /// Gives a user's groups, which are locked and which the user has left, to their admins, else to plain members, and among these to the
    /// longest-standing one. Members in doubt, and after them members by an unproven number, are chosen only if there is
    /// no other. A member whose account is closed comes last, and passes the group on when their data in it is deleted. A group without
    /// members keeps its owner.
    static func giveToHeirs(
        _ groups: [PostgresUUID],
        of user: PostgresUUID,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            """
            UPDATE groups g SET owner_user_id = heir.user_id
            FROM (
                SELECT DISTINCT ON (m.group_id) m.group_id, m.user_id FROM members m
                WHERE m.group_id IN (SELECT group_id FROM groups WHERE group_id = ANY(\(groups)) AND owner_user_id = \(user))
                    AND m.user_id IS NOT NULL
                ORDER BY m.group_id, EXISTS (SELECT FROM closed_accounts c WHERE c.user_id = m.user_id),
                    m.role = \(GroupRole.admin.rawValue) DESC, \(unsafeSQL: MemberRow.isUnproven), m.unconfirmed_at IS NOT NULL,
                    m.linked_at, m.member_id
            ) AS heir
            WHERE g.group_id = heir.group_id AND g.owner_user_id = \(user)
            """
        )
    }
}
