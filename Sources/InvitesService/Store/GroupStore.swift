import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit

/// Groups and the lists of them and of their members, in PostgreSQL. Each method that reads is one round trip.
struct GroupStore: Sendable {
    let database: PostgresClient

    /// Creates a group with its creator as the first member.
    ///
    /// The count of the user's groups of the day comes first: its row is the lock under which all of them are counted, and
    /// nobody else's request takes it.
    ///
    /// - Throws: ``InvitesFault/tooManyAttempts(retryAfterMilliseconds:)`` or ``InvitesFault/tooManyGroups(groupsMax:)``.
    func create(
        _ group: Group,
        firstMember: MemberID,
        ownerDisplayName: DisplayName?,
        limits: InvitesLimits,
        deadline: Deadline?
    ) async throws {
        let createdAt = PostgresTimestamp(milliseconds: group.createdAtMilliseconds)
        try await database.withTransaction(deadline: deadline) { transaction in
            let wait = try await QuotaStore.spend(
                limits.userGroups,
                of: group.ownerID.bytes,
                nowMilliseconds: group.createdAtMilliseconds,
                in: transaction
            )
            if let wait { throw InvitesFault.tooManyAttempts(retryAfterMilliseconds: wait) }
            let created = try await transaction.execute(
                """
                WITH created AS (
                    INSERT INTO groups (group_id, name, owner_user_id, created_at)
                    SELECT \(group.id.uuid), \(group.name.value), \(group.ownerID.uuid), \(createdAt)
                    WHERE (
                        SELECT count(*)
                        FROM (SELECT 1 FROM groups WHERE owner_user_id = \(group.ownerID.uuid) LIMIT \(limits.groupsMax))
                            AS owned
                    ) < \(limits.groupsMax)
                    RETURNING group_id, owner_user_id, created_at
                )
                INSERT INTO members (group_id, member_id, user_id, display_name, added_by, added_at, linked_at)
                SELECT group_id, \(firstMember.uuid), owner_user_id, \(ownerDisplayName?.value), owner_user_id,
                    created_at, created_at
                FROM created
                """
            )
            guard created.affected == 1 else { throw InvitesFault.tooManyGroups(groupsMax: limits.groupsMax) }
        }
    }

    /// A user's groups, newest first, at most `limit` of them, after the one that the page before ended with.
    ///
    /// Group ids begin with the time of making, so their order is the groups'.
    func groups(
        of userID: UserID,
        after cursor: Page.Cursor?,
        limit: Int,
        deadline: Deadline?
    ) async throws -> [Group] {
        let after = cursor.map { PostgresUUID(high: $0.high, low: $0.low) } ?? Self.lastUUID
        let rows = try await database.query(
            """
            SELECT g.group_id, g.name, g.owner_user_id, g.created_at
            FROM members m JOIN groups g ON g.group_id = m.group_id
            WHERE m.user_id = \(userID.uuid) AND m.group_id < \(after)
            ORDER BY m.group_id DESC
            LIMIT \(limit)
            """,
            deadline: deadline
        )
        return try rows.map { row in
            let (id, name, ownerID, createdAt) = try row.decode(
                PostgresUUID.self,
                String.self,
                PostgresUUID.self,
                PostgresTimestamp.self
            )
            return Group(
                id: GroupID(id),
                name: GroupName(stored: name),
                ownerID: UserID(ownerID),
                createdAtMilliseconds: createdAt.milliseconds
            )
        }
    }

    /// A group's members, oldest first, at most `limit` of them, after the one that the page before ended with.
    ///
    /// - Throws: ``InvitesFault/notAMember`` if the asking user isn't one of them.
    func members(
        of groupID: GroupID,
        askedBy userID: UserID,
        after cursor: Page.Cursor?,
        limit: Int,
        deadline: Deadline?
    ) async throws -> [Member] {
        let after = cursor.map { PostgresUUID(high: $0.high, low: $0.low) } ?? Self.firstUUID
        // One row of nulls tells an empty page from an outsider, who gets no row at all.
        let rows = try await database.query(
            """
            SELECT \(unsafeSQL: MemberRow.columns)
            FROM (
                SELECT group_id FROM members WHERE user_id = \(userID.uuid) AND group_id = \(groupID.uuid)
            ) AS caller
            LEFT JOIN LATERAL (
                SELECT * FROM members
                WHERE group_id = caller.group_id AND member_id > \(after)
                ORDER BY member_id
                LIMIT \(limit)
            ) AS m ON true
            ORDER BY m.member_id
            """,
            deadline: deadline
        )
        guard !rows.isEmpty else { throw InvitesFault.notAMember }
        return try rows.compactMap(MemberRow.member)
    }

    /// Before every UUID that is made, and after.
    private static let firstUUID = PostgresUUID(high: 0, low: 0)
    private static let lastUUID = PostgresUUID(high: .max, low: .max)
}
