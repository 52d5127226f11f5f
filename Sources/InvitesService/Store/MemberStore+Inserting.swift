import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

extension MemberStore {
    /// Writes the memberships, as far as the user may wait for more people, and the events for webhook targets that want to know of new
    /// members: one round trip. The event's id is that of the membership, which begins once.
    ///
    /// An expired row for a number is renewed; a row by an adder whom the number's owner blocks gives way to the owner's membership. If the
    /// person is in the group by another number, the group notes this number too, in case they lose the other.
    ///
    /// - Parameter answers: the answers that count, in order.
    /// - Returns: how many of the answers there is room for.
    func insert(
        _ answers: [(Roster.Answer, NewMembers.Person)],
        _ new: NewMembers,
        _ limits: InvitesLimits,
        in transaction: PostgresTransaction
    ) async throws -> Int {
        let now = PostgresTimestamp(milliseconds: new.nowMilliseconds)
        let expiresAt = limits.pendingExpiry(nowMilliseconds: new.nowMilliseconds)
        var (ids, users, phones, names, ranks) = ([PostgresUUID](), [PostgresUUID?](), [String](), [String](), [Int]())
        var isMerged: [Bool] = []
        for (index, (answer, person)) in answers.enumerated() {
            switch answer {
            case .added(let member): users.append(member.userID?.uuid)
            // A person who is awaited by another number doesn't have that number yet.
            case .recognized(let member) where member.userID != nil: users.append(member.userID?.uuid)
            case .recognized, .known, .refused: continue
            }
            if case .recognized = answer { isMerged.append(true) } else { isMerged.append(false) }
            ids.append(person.memberID.uuid)
            phones.append(person.invitee.phone.digits)
            names.append(person.invitee.displayName.value)
            ranks.append(index + 1)
        }
        // The counts' rows are locked: no other call adds for this user meanwhile.
        let rows = try await transaction.execute(
            """
            WITH room AS MATERIALIZED (
                SELECT \(limits.pendingMax) - count(*) AS free FROM (
                    SELECT FROM members WHERE added_by = \(new.callerID.uuid) AND user_id IS NULL LIMIT \(limits.pendingMax)
                ) AS waiting
            ), person AS (
                SELECT person.* FROM unnest(\(ids), \(users), \(phones), \(names), \(ranks), \(isMerged))
                    AS person (member_id, user_id, phone, display_name, rank, is_merged), room
                WHERE person.rank <= room.free
            ), merged AS (
                INSERT INTO merged_numbers (user_id, phone, group_id, member_id, display_name, added_by, added_at)
                SELECT user_id, phone, \(new.groupID.uuid), member_id, display_name, \(new.callerID.uuid), \(now)
                FROM person WHERE is_merged ON CONFLICT (user_id, phone, group_id) DO NOTHING
            ), added AS (
                INSERT INTO members
                    (group_id, member_id, user_id, phone, display_name, added_by, added_at, linked_at, expires_at)
                SELECT \(new.groupID.uuid), member_id, user_id, phone, display_name, \(new.callerID.uuid), \(now),
                    CASE WHEN user_id IS NOT NULL THEN \(now) END, CASE WHEN user_id IS NULL THEN \(expiresAt) END
                FROM person WHERE NOT is_merged
                ON CONFLICT (phone, group_id) WHERE user_id IS NULL DO UPDATE SET
                    member_id = excluded.member_id, display_name = excluded.display_name, added_by = excluded.added_by,
                    also_added_by = excluded.also_added_by, added_at = excluded.added_at, expires_at = excluded.expires_at, declined_by = NULL
                RETURNING member_id, user_id, phone
            ), replaced AS (
                DELETE FROM members WHERE group_id = \(new.groupID.uuid) AND user_id IS NULL
                    AND phone IN (SELECT phone FROM added WHERE user_id IS NOT NULL)
            ), told AS (
                INSERT INTO work (queue, event_id, user_id, created_at, trace, data)
                SELECT \(ServiceEventWork.queue), member_id, user_id, \(now), \(Traces.current),
                    jsonb_build_object('type', type, 'group_id', \(new.groupID.uuid), 'member_id', member_id)
                FROM added CROSS JOIN wanted_events
                WHERE type = \(ServiceEventType.groupJoined.rawValue) AND user_id <> \(new.callerID.uuid)
            )
            SELECT free FROM room
            """
        )
        return Int(try rows[0].decode(0, as: Int64.self))
    }
}
