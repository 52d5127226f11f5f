import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels

/// People whom groups wait for or who are in doubt, and the decisions about them, in PostgreSQL.
struct PendingStore: Sendable {
    let database: PostgresClient
    private let groups: GroupStore

    init(database: PostgresClient) {
        self.database = database
        groups = GroupStore(database: database)
    }

    /// Less than every UUID that is made.
    private static let firstUUID = PostgresUUID(high: 0, low: 0)

    /// The people whom a group waits for or who are in doubt, oldest first, at most `limit` of them, after the last one of the previous
    /// page.
    ///
    /// - Throws: ``InvitesError/notAMember`` if the caller isn't a member.
    func list(
        of groupID: GroupID,
        askedBy userID: UserID,
        after cursor: Page.Cursor?,
        limit: Int,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> [PendingPerson] {
        guard let group = try await groups.group(groupID, askedBy: userID, deadline: deadline) else {
            throw InvitesError.notAMember
        }
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let after = cursor.map { PostgresUUID(high: $0.high, low: $0.low) } ?? Self.firstUUID
        // The owner of a number is looked up only where it may be shown.
        let isConfirm = group.openness == .confirm
        let seesRequests = GroupPolicy.may(group.callerRole, .confirm(addedByCaller: false))
        let rows = try await database.query(
            """
            SELECT w.member_id, w.is_request, w.is_doubt, w.user_id, w.phone, w.display_name,
                NULLIF(w.added_by, \(AccountStore.nobody)), w.since, w.expires_at, w.is_callers
            FROM (
                SELECT m.member_id, false AS is_request, m.user_id IS NOT NULL AS is_doubt,
                    COALESCE(m.user_id, (
                        SELECT p.user_id FROM phones p
                        WHERE \(isConfirm) AND p.phone = m.phone AND p.user_id IS DISTINCT FROM m.declined_by
                            AND \(unsafeSQL: MemberRow.isWanted(by: "p.user_id"))
                            -- A user that somebody blocked doesn't see them, even if another user has added them.
                            AND NOT EXISTS (SELECT FROM blocked_inviters b
                                WHERE b.user_id = p.user_id AND b.inviter_user_id = \(userID.uuid))
                            AND NOT EXISTS (SELECT FROM closed_accounts c WHERE c.user_id = p.user_id)
                    )) AS user_id,
                    m.phone, m.display_name, m.added_by, COALESCE(m.unconfirmed_at, m.added_at) AS since, m.expires_at,
                    \(userID.uuid) = ANY(m.added_by || m.also_added_by) AS is_callers
                FROM members m
                WHERE m.group_id = \(groupID.uuid) AND m.member_id > \(after)
                    AND (m.unconfirmed_at IS NOT NULL OR m.user_id IS NULL)
                UNION ALL
                SELECT member_id, true, false, user_id, NULL, NULL, NULL, requested_at, expires_at, false
                FROM join_requests r
                WHERE \(seesRequests) AND group_id = \(groupID.uuid) AND member_id > \(after)
                    AND NOT EXISTS (SELECT FROM members e WHERE e.user_id = r.user_id AND e.group_id = r.group_id)
            ) AS w
            WHERE w.is_doubt OR w.expires_at IS NULL OR w.expires_at > \(now)
            ORDER BY w.member_id
            LIMIT \(limit)
            """,
            deadline: deadline
        )
        return try rows.map { row in
            PendingPerson(
                try facts(row, groupID),
                askedBy: userID,
                role: group.callerRole,
                openness: group.openness
            )
        }
    }

    private func facts(_ row: Row, _ groupID: GroupID) throws -> PendingPerson.Facts {
        PendingPerson.Facts(
            id: MemberID(try row.decode(0, as: PostgresUUID.self)),
            groupID: groupID,
            kind: try row.decode(1, as: Bool.self)
                ? .request : try row.decode(2, as: Bool.self) ? .doubt : .number,
            userID: try row.decode(3, as: PostgresUUID?.self).map { UserID($0) },
            phone: try row.decode(4, as: String?.self).flatMap(PhoneNumber.init(stored:)),
            displayName: try row.decode(5, as: String?.self).map(ContactName.init(stored:)),
            addedBy: try row.decode(6, as: PostgresUUID?.self).map { UserID($0) },
            isAddedByCaller: try row.decode(9),
            sinceMilliseconds: try row.decode(7, as: PostgresTimestamp.self).milliseconds,
            expiresAtMilliseconds: try row.decode(8, as: PostgresTimestamp?.self)?.milliseconds
        )
    }

    // MARK: - Requests

    /// Refuses a request to join. Succeeds if there is no such request.
    ///
    /// - Parameter group: the group, which is locked, as the refusing member sees it.
    /// - Throws: ``InvitesError/roleInsufficient``.
    static func reject(_ id: MemberID, in group: Group, _ transaction: PostgresTransaction) async throws {
        let rows = try await transaction.execute(
            "DELETE FROM join_requests WHERE group_id = \(group.id.uuid) AND member_id = \(id.uuid)"
        )
        // Throwing rolls it back.
        if rows.affected > 0 { try GroupPolicy.require(group.callerRole, .revoke(addedByCaller: false)) }
    }

    /// Makes users who asked to join a group members after it stopped confirming people, oldest first, as far as there is room. The rest
    /// keep waiting to be confirmed, as do users who are in the maximum of groups, and users for whom it isn't decided whether their
    /// accounts are closed.
    ///
    /// - Parameter group: the group, which is locked, after the locks of the users who asked to join it.
    static func admitAll(
        to group: Group,
        by callerID: UserID,
        limits: InvitesLimits,
        nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        try await transaction.execute(
            """
            WITH asked AS MATERIALIZED (
                SELECT r.member_id, r.user_id FROM join_requests r
                WHERE r.group_id = \(group.id.uuid) AND (r.expires_at IS NULL OR r.expires_at > \(now))
                    AND NOT EXISTS (SELECT FROM members m WHERE m.user_id = r.user_id AND m.group_id = r.group_id)
                    AND NOT EXISTS (SELECT FROM closed_accounts c WHERE c.user_id = r.user_id)
                    AND NOT EXISTS (SELECT FROM held_accounts h WHERE h.user_id = r.user_id)
                    AND NOT \(unsafeSQL: MembershipRoom.isFull("r.user_id", limits.chosenMembershipsMax))
                ORDER BY r.member_id
                LIMIT greatest(0, \(limits.membersMax) - (
                    SELECT count(*) FROM members WHERE group_id = \(group.id.uuid)
                        AND (user_id IS NOT NULL OR expires_at IS NULL OR expires_at > \(now))
                ))
            ), joined AS (
                INSERT INTO members (group_id, member_id, user_id, added_by, added_at, linked_at, confirmed_by)
                SELECT \(group.id.uuid), member_id, user_id, \(callerID.uuid), \(now), \(now), \(callerID.uuid)
                FROM asked
                RETURNING member_id, user_id
            ), told AS (
                INSERT INTO work (queue, event_id, user_id, created_at, trace, data)
                SELECT \(ServiceEventWork.queue), member_id, user_id, \(now), \(Traces.current),
                    jsonb_build_object('type', type, 'group_id', \(group.id.uuid), 'member_id', member_id)
                FROM joined CROSS JOIN wanted_events
                WHERE type = \(ServiceEventType.groupJoined.rawValue)
            )
            DELETE FROM join_requests r WHERE r.group_id = \(group.id.uuid) AND (
                r.user_id IN (SELECT user_id FROM asked)
                OR EXISTS (SELECT FROM members m WHERE m.user_id = r.user_id AND m.group_id = r.group_id)
            )
            """
        )
    }
}
