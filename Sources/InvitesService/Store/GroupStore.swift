import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// Groups, in PostgreSQL. Each method that reads is one round trip.
struct GroupStore: Sendable {
    let database: PostgresClient

    /// A group to create.
    struct Creation: Sendable {
        /// The group.
        let group: Group
        /// The id of its creator's membership.
        let firstMember: MemberID
        /// The creator's name in it.
        let ownerDisplayName: ContactName?
        /// The text that distinguishes requests with the same key.
        let requestText: String
    }

    /// Creates a group with its creator as the first member, once for each key of a user.
    ///
    /// - Returns: the group; for a key that was used before, the group that was created then.
    /// - Throws: ``InvitesError/idempotencyKeyReused`` if the key came with another name or openness then, ``InvitesError/notAMember`` if
    ///   the group was deleted since, or the user is no longer in it, ``InvitesError/tooManyAttempts(retryAfterMilliseconds:)``,
    ///   ``InvitesError/tooManyGroups(groupsMax:)`` or ``InvitesError/memberGroupsFull(groupsMax:)``.
    func create(
        _ creation: Creation,
        key: IdempotencyKey?,
        limits: InvitesLimits,
        deadline: Deadline?
    ) async throws -> Group {
        for _ in 1...Self.keyTriesMax {
            let isCreated = try await database.withTransaction(deadline: deadline) { transaction in
                if let key, try await !claim(key, for: creation, in: transaction) { return false }
                try await insert(creation, limits, in: transaction)
                return true
            }
            if isCreated { return creation.group }
            guard let key else { break }  // not reached: without a key it is created, or an error is thrown
            if let group = try await group(of: creation, key: key, deadline: deadline) { return group }
        }
        throw PostgresError.unavailable("an idempotency key was forgotten again and again")
    }

    /// A key that is taken, and deleted before it is read, is free again: a second try takes it.
    private static let keyTriesMax = 3

    /// Takes the key if it is free; returns whether it did. A concurrent request waits at the key's row until the first one has committed.
    /// It comes before the daily count, so that a retry isn't counted.
    private func claim(
        _ key: IdempotencyKey,
        for creation: Creation,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        let group = creation.group
        let rows = try await transaction.execute(
            """
            INSERT INTO group_keys (user_id, idempotency_key, group_id, request_hash, created_at)
            VALUES (\(group.ownerID.uuid), \(key.uuid), \(group.id.uuid), sha256(convert_to(\(creation.requestText), 'UTF8')),
                \(PostgresTimestamp(milliseconds: group.createdAtMilliseconds)))
            ON CONFLICT (user_id, idempotency_key) DO NOTHING
            """
        )
        return rows.affected == 1
    }

    /// The group that was created with a key; nil if the key is unknown. A separate statement, so that its snapshot includes what the
    /// statement before waited for.
    private func group(of creation: Creation, key: IdempotencyKey, deadline: Deadline?) async throws -> Group? {
        let rows = try await database.query(
            """
            SELECT \(unsafeSQL: GroupRow.columns),
                k.request_hash = sha256(convert_to(\(creation.requestText), 'UTF8')), m.group_id IS NOT NULL
            FROM group_keys k
                LEFT JOIN groups g ON g.group_id = k.group_id
                LEFT JOIN members m ON m.group_id = g.group_id AND m.user_id = k.user_id
            WHERE k.user_id = \(creation.group.ownerID.uuid) AND k.idempotency_key = \(key.uuid)
            """,
            deadline: deadline
        )
        guard let row = rows.first else { return nil }
        let column = GroupRow.columnCount
        guard try row.decode(column, as: Bool.self) else { throw InvitesError.idempotencyKeyReused }
        guard try row.decode(column + 1, as: Bool.self) else { throw InvitesError.notAMember }
        return try GroupRow.group(row)
    }

    /// Deletes keys that were used before a time, at most `limit` of them, and returns how many.
    func forgetKeys(usedBeforeMilliseconds: Int64, limit: Int) async throws -> Int {
        let time = PostgresTimestamp(milliseconds: usedBeforeMilliseconds)
        let rows = try await database.execute(
            """
            DELETE FROM group_keys WHERE (user_id, idempotency_key) IN (
                SELECT user_id, idempotency_key FROM group_keys
                WHERE created_at < \(time) ORDER BY created_at LIMIT \(limit)
            )
            """
        )
        return rows.affected
    }

    /// Inserts the group and its first member. The user's daily count of groups comes first: its row is the lock under which the groups are
    /// counted, and no other user's request takes it.
    private func insert(
        _ creation: Creation,
        _ limits: InvitesLimits,
        in transaction: PostgresTransaction
    ) async throws {
        let group = creation.group
        let createdAt = PostgresTimestamp(milliseconds: group.createdAtMilliseconds)
        let wait = try await QuotaStore.spend(
            limits.userGroups,
            of: group.ownerID.bytes,
            nowMilliseconds: group.createdAtMilliseconds,
            in: transaction
        )
        if let wait { throw InvitesError.tooManyAttempts(retryAfterMilliseconds: wait) }
        // One snapshot for the action and for the reason of a refusal: an account may be reopened at any moment.
        let row = try await transaction.execute(
            """
            WITH standing AS MATERIALIZED (
                SELECT EXISTS (SELECT FROM closed_accounts WHERE user_id = \(group.ownerID.uuid)) AS is_closed,
                    EXISTS (SELECT FROM held_accounts WHERE user_id = \(group.ownerID.uuid)) AS is_held,
                    (
                        -- By who made them: whom somebody hands groups to isn't kept from making their own.
                        SELECT count(*) FROM (
                            SELECT 1 FROM groups WHERE created_by = \(group.ownerID.uuid) LIMIT \(limits.groupsMax)
                        ) AS made
                    ) >= \(limits.groupsMax) AS is_full,
                    \(unsafeSQL: MembershipRoom.isFull("me.user_id", limits.chosenMembershipsMax)) AS is_everywhere
                FROM (SELECT \(group.ownerID.uuid)::uuid AS user_id) AS me
            ), created AS (
                INSERT INTO groups (group_id, name, owner_user_id, created_by, created_at, openness)
                SELECT \(group.id.uuid), \(group.name.value), \(group.ownerID.uuid), \(group.ownerID.uuid), \(createdAt),
                    \(group.openness.rawValue)
                FROM standing WHERE NOT (is_closed OR is_held OR is_full OR is_everywhere)
                RETURNING group_id, owner_user_id, created_at
            ), entered AS (
                INSERT INTO members (group_id, member_id, user_id, display_name, added_by, added_at, linked_at)
                SELECT group_id, \(creation.firstMember.uuid), owner_user_id, \(creation.ownerDisplayName?.value),
                    owner_user_id, created_at, created_at
                FROM created
            )
            SELECT is_closed, is_held, is_full, is_everywhere FROM standing
            """
        )[0]
        let (isClosed, isHeld, isFull, isEverywhere) = try row.decode(Bool.self, Bool.self, Bool.self, Bool.self)
        if isClosed { throw InvitesError.accountClosed }
        if isHeld { throw InvitesError.accountHeld }
        if isFull { throw InvitesError.tooManyGroups(groupsMax: limits.groupsMax) }
        if isEverywhere { throw InvitesError.memberGroupsFull(groupsMax: limits.chosenMembershipsMax) }
    }

    /// A user's groups, newest first, at most `limit` of them, after the last one of the previous page.
    ///
    /// Group ids begin with the creation time, so their order is the groups'.
    func list(
        of userID: UserID,
        after cursor: Page.Cursor?,
        limit: Int,
        deadline: Deadline?
    ) async throws -> [Group] {
        let after = cursor.map { PostgresUUID(high: $0.high, low: $0.low) } ?? Self.lastUUID
        let rows = try await database.query(
            """
            SELECT \(unsafeSQL: GroupRow.columns)
            FROM members m JOIN groups g ON g.group_id = m.group_id
            WHERE m.user_id = \(userID.uuid) AND m.group_id < \(after)
            ORDER BY m.group_id DESC
            LIMIT \(limit)
            """,
            deadline: deadline
        )
        return try rows.map(GroupRow.group)
    }

    /// A group, for a user who is in it; nil for others.
    func group(_ groupID: GroupID, askedBy userID: UserID, deadline: Deadline?) async throws -> Group? {
        let rows = try await database.query(
            """
            SELECT \(unsafeSQL: GroupRow.columns)
            FROM members m JOIN groups g ON g.group_id = m.group_id
            WHERE m.user_id = \(userID.uuid) AND m.group_id = \(groupID.uuid)
            """,
            deadline: deadline
        )
        return try rows.first.map(GroupRow.group)
    }

    /// Greater than every UUID that is made.
    private static let lastUUID = PostgresUUID(high: .max, low: .max)
}
