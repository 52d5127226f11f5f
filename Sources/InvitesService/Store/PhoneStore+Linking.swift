import InvitesDomain
import Models
import Postgres
import ServiceKit
import ServiceModels

/// Links the people who wait for a number, in PostgreSQL. The number's row is locked.
extension PhoneStore {
    /// What a claim finds.
    struct Places: Sendable {
        /// Whether a person waits for one of the numbers, or is in doubt by one.
        let areThere: Bool
        /// Whether the user is in doubt somewhere by a number that they have again.
        let hasDoubts: Bool
    }

    /// Locks the groups in which a person waits for the numbers until the transaction ends, in the order of their ids, shared with other
    /// claims: nobody leaves or deletes one meanwhile, which would lock groups before members, too.
    static func lockGroups(
        waitingFor links: [PhoneLedger.Link],
        in transaction: PostgresTransaction
    ) async throws -> Places {
        guard !links.isEmpty else { return Places(areThere: false, hasDoubts: false) }
        let (phones, users) = (links.map(\.phone.digits), links.map(\.userID.uuid))
        // A doubt about a number begins only with its loss, and may end at any moment.
        let rows = try await transaction.query(
            """
            SELECT EXISTS (
                SELECT FROM members d WHERE d.group_id = g.group_id AND d.user_id = ANY(\(users))
                    AND d.phone = ANY(\(phones)) AND d.unconfirmed_at IS NOT NULL)
            FROM groups g WHERE g.group_id IN (
                SELECT group_id FROM members WHERE phone = ANY(\(phones)) AND user_id IS NULL
                UNION SELECT group_id FROM members
                WHERE user_id = ANY(\(users)) AND phone = ANY(\(phones)) AND unconfirmed_at IS NOT NULL)
            ORDER BY g.group_id FOR KEY SHARE OF g
            """
        )
        return Places(
            areThere: !rows.isEmpty,
            hasDoubts: try rows.contains { try $0.decode(0, as: Bool.self) }
        )
    }

    /// Makes the people who wait for the numbers members, in one statement, and returns how many. It also writes events for webhook targets
    /// that want to know of new members, each with an id of its own: a membership may be taken from a user whose event was delivered, and
    /// the next user's event is delivered as well.
    ///
    /// Only open groups link a user this way, and none that the user declined, or whose adders the user blocks: those rows keep waiting,
    /// and `phones` decides who has the number.
    ///
    /// If the user is in the group already, or waits in it under two numbers, the extra pending rows merge into the one that stays: a user
    /// is in a group once. The numbers are remembered, in case the user loses one.
    ///
    /// A user becomes a member of no more groups than there is room for, of the oldest first. The other rows keep waiting, and
    /// ``linkWaiting(nowMilliseconds:limit:)`` finds them when there is room again. A claim never fails by it.
    ///
    /// - Parameters:
    ///   - groupID: the only group in which to link; nil for all.
    ///   - membershipsMax: the maximum of groups that a user is a member of.
    static func link(
        _ links: [PhoneLedger.Link],
        inGroup groupID: GroupID? = nil,
        _ now: PostgresTimestamp,
        membershipsMax: Int,
        in transaction: PostgresTransaction
    ) async throws -> Int {
        guard !links.isEmpty else { return 0 }
        let phones = links.map(\.phone.digits)
        let userIDs = links.map(\.userID.uuid)
        let rows = try await transaction.execute(
            """
            WITH found AS MATERIALIZED (
                SELECT m.group_id, m.member_id, link.user_id,
                    EXISTS (
                        SELECT 1 FROM members e WHERE e.user_id = link.user_id AND e.group_id = m.group_id
                    ) AS is_member,
                    row_number() OVER (
                        PARTITION BY m.group_id, link.user_id ORDER BY link.position, m.member_id
                    ) AS rank
                FROM unnest(\(phones), \(userIDs)) WITH ORDINALITY AS link (phone, user_id, position)
                JOIN members m ON m.phone = link.phone AND m.user_id IS NULL
                JOIN groups g ON g.group_id = m.group_id AND g.openness = \(GroupOpenness.open.rawValue)
                WHERE (m.expires_at IS NULL OR m.expires_at > \(now)) AND m.declined_by IS DISTINCT FROM link.user_id
                    AND (\(groupID?.uuid)::uuid IS NULL OR m.group_id = \(groupID?.uuid))
                    AND \(unsafeSQL: MemberRow.isWanted(by: "link.user_id"))
            ), room AS MATERIALIZED (
                SELECT user_id, \(membershipsMax) - \(unsafeSQL: MembershipRoom.count(of: "person.user_id", membershipsMax)) AS free
                FROM (SELECT DISTINCT user_id FROM found WHERE NOT is_member) AS person
            ), fitting AS (
                SELECT f.group_id, f.user_id FROM (
                    SELECT group_id, user_id, row_number() OVER (PARTITION BY user_id ORDER BY group_id) AS place
                    FROM found WHERE NOT is_member AND rank = 1
                ) AS f JOIN room ON room.user_id = f.user_id AND f.place <= room.free
            ), waiting AS MATERIALIZED (
                SELECT f.* FROM found f
                WHERE f.is_member OR (f.group_id, f.user_id) IN (SELECT group_id, user_id FROM fitting)
            ), merged AS (
                DELETE FROM members m USING waiting w
                WHERE m.group_id = w.group_id AND m.member_id = w.member_id AND (w.is_member OR w.rank > 1)
                RETURNING m.group_id, m.phone, w.user_id, m.member_id, m.display_name, m.added_by, m.added_at
            ), remembered AS (
                INSERT INTO merged_numbers (group_id, phone, user_id, member_id, display_name, added_by, added_at)
                SELECT * FROM merged ON CONFLICT (user_id, phone, group_id) DO NOTHING
            ), linked AS (
                UPDATE members m SET user_id = w.user_id, linked_at = \(now), expires_at = NULL, declined_by = NULL
                FROM waiting w
                WHERE m.group_id = w.group_id AND m.member_id = w.member_id AND NOT w.is_member AND w.rank = 1
                RETURNING m.group_id, m.member_id, m.user_id, m.added_by
            ), told AS (
                INSERT INTO work (queue, event_id, user_id, created_at, trace, data)
                SELECT \(ServiceEventWork.queue), gen_random_uuid(), user_id, \(now), \(Traces.current),
                    jsonb_build_object('type', type, 'group_id', group_id, 'member_id', member_id)
                FROM linked CROSS JOIN wanted_events
                WHERE type = \(ServiceEventType.groupJoined.rawValue) AND added_by <> user_id
            )
            SELECT count(*) FROM linked
            """
        )
        return Int(try rows[0].decode(0, as: Int64.self))
    }
}
