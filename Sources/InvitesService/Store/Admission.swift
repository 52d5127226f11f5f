import InvitesDomain
import Models
import Postgres
import ServiceKit
import ServiceModels

/// The steps by which a user becomes a member when they accept, are confirmed, or join by a link.
///
/// Locks are taken in the same order as everywhere: the user's lock (``UserLocks``), the user's numbers, the group. A call that registers
/// or adds one of these numbers comes before or after, and the person is in the group once.
enum Admission {
    /// A row that waits for one of the user's numbers.
    struct Waiting: Sendable {
        /// The membership's id.
        let id: MemberID
        /// Whether the row has not expired.
        let isLive: Bool
        /// Whether the user declined it.
        let isDeclined: Bool
        /// Whether the user blocks all users who added it.
        let isBlocked: Bool

        /// Whether both sides know of the row: it is live, not declined and not blocked.
        var isShown: Bool { isLive && !isDeclined && !isBlocked }
    }

    /// A user's place in a group.
    struct Place: Sendable {
        /// The user's membership.
        let memberID: MemberID?
        /// Their request to join.
        let requestID: MemberID?
        /// The rows that wait for the user's numbers, oldest first.
        let waiting: [Waiting]
        /// The number of the group's members, pending ones included.
        let memberCount: Int
        /// The number of requests to join it.
        let requestCount: Int

        /// The row that waits for longest; a live one if there is one.
        var oldestWaiting: Waiting? { waiting.first(where: \.isLive) ?? waiting.first }
    }

    /// How a user becomes a member.
    struct Entry: Sendable {
        /// The user.
        let userID: UserID
        /// The row that becomes the membership; nil for any row that waits for the user.
        var waitingID: MemberID?
        /// The membership's id if no row waits for the user.
        let newID: MemberID
        /// The user who added them, if no row waits for the user.
        let addedBy: UserID
        /// The member who confirmed the user; nil for a user who is in by the number alone.
        let confirmedBy: UserID?
        /// Whether the user chose it; false if only others did.
        let isChosen: Bool
    }

    /// Locks the numbers that a user has until the transaction ends, in the order of their digits, and returns them; also locks one further
    /// number, no matter who has it.
    ///
    /// - Throws: `ConflictRetry.LostRace` if the user got another number while this waited for locks: the transaction is retried.
    static func lockPhones(
        of userID: UserID,
        and phone: String? = nil,
        in transaction: PostgresTransaction
    ) async throws -> [String] {
        let rows = try await transaction.query(
            """
            WITH locked AS MATERIALIZED (
                SELECT lock FROM user_locks WHERE lock = ANY(\(UserLocks.numbers(of: [userID]))) FOR SHARE
            )
            SELECT phone, user_id FROM phones
            WHERE (user_id = \(userID.uuid) OR phone = \(phone)) AND (SELECT count(*) FROM locked) >= 0
            ORDER BY phone COLLATE "C"
            FOR UPDATE
            """
        )
        let phones = try rows.compactMap { row in
            let (digits, owner) = try row.decode(String.self, PostgresUUID?.self)
            return owner == userID.uuid ? digits : nil
        }
        // The statement before read the user's numbers before it waited: it has no row for a number that became theirs since.
        let theirs = try await transaction.query("SELECT phone FROM phones WHERE user_id = \(userID.uuid)")
        for row in theirs where !phones.contains(try row.decode(0)) { throw ConflictRetry.LostRace() }
        return phones
    }

    /// Locks a group until the transaction ends, if the user is in it or it waits for one of their numbers. Returns whether it did.
    static func lock(
        _ groupID: GroupID,
        concerning userID: UserID,
        with phones: [String],
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        // Not for strangers, who must not make members wait.
        let rows = try await transaction.query(
            """
            SELECT FROM groups g
            WHERE g.group_id = \(groupID.uuid) AND EXISTS (
                SELECT FROM members m WHERE m.group_id = g.group_id
                    AND (m.user_id = \(userID.uuid) OR (m.user_id IS NULL AND m.phone = ANY(\(phones))))
            )
            FOR UPDATE OF g
            """
        )
        return !rows.isEmpty
    }

    /// Throws for an account that is closed, or for which that isn't decided. After the locks.
    ///
    /// - Throws: ``InvitesError/accountClosed`` or ``InvitesError/accountHeld``.
    static func requireOpenAccount(_ userID: UserID, in transaction: PostgresTransaction) async throws {
        let row = try await transaction.query(
            """
            SELECT EXISTS (SELECT FROM closed_accounts WHERE user_id = \(userID.uuid)),
                EXISTS (SELECT FROM held_accounts WHERE user_id = \(userID.uuid))
            """
        )[0]
        let (isClosed, isHeld) = try row.decode(Bool.self, Bool.self)
        if isClosed { throw InvitesError.accountClosed }
        if isHeld { throw InvitesError.accountHeld }
    }

    /// A user's place in a group. Read after the locks, so that it stays the same until the transaction ends.
    static func place(
        of userID: UserID,
        in groupID: GroupID,
        with phones: [String],
        nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> Place {
        let (user, group) = (userID.uuid, groupID.uuid)
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await transaction.query(
            """
            SELECT total.members, total.requests, own.member_id, asked.member_id,
                w.member_id, w.is_live, w.is_declined, w.is_blocked
            FROM (
                SELECT (SELECT count(*) FROM members WHERE group_id = \(group)
                        AND (user_id IS NOT NULL OR expires_at IS NULL OR expires_at > \(now))) AS members,
                    (SELECT count(*) FROM join_requests WHERE group_id = \(group)
                        AND (expires_at IS NULL OR expires_at > \(now))) AS requests
            ) AS total
            LEFT JOIN (
                SELECT member_id FROM members WHERE group_id = \(group) AND user_id = \(user)
            ) AS own ON true
            LEFT JOIN (
                SELECT member_id FROM join_requests WHERE group_id = \(group) AND user_id = \(user)
                    AND (expires_at IS NULL OR expires_at > \(now))
            ) AS asked ON true
            LEFT JOIN (
                SELECT m.member_id, m.expires_at IS NULL OR m.expires_at > \(now) AS is_live,
                    m.declined_by IS NOT DISTINCT FROM \(user) AS is_declined,
                    NOT \(unsafeSQL: MemberRow.isWanted(by: "here.user_id")) AS is_blocked
                FROM members m, (SELECT \(user)::uuid AS user_id) AS here
                WHERE m.group_id = \(group) AND m.user_id IS NULL AND m.phone = ANY(\(phones))
            ) AS w ON true
            ORDER BY w.member_id
            """
        )
        let waiting: [Waiting] = try rows.compactMap { row in
            guard let id = try row.decode(4, as: PostgresUUID?.self) else { return nil }
            return Waiting(
                id: MemberID(id),
                isLive: try row.decode(5),
                isDeclined: try row.decode(6),
                isBlocked: try row.decode(7)
            )
        }
        return Place(
            memberID: try rows[0].decode(2, as: PostgresUUID?.self).map { MemberID($0) },
            requestID: try rows[0].decode(3, as: PostgresUUID?.self).map { MemberID($0) },
            waiting: waiting,
            memberCount: Int(try rows[0].decode(0, as: Int64.self)),
            requestCount: Int(try rows[0].decode(1, as: Int64.self))
        )
    }

    /// Makes the user a member, or finds that they are one. All rows that waited for the user in the group become that one membership, and
    /// webhook targets get an event. The further numbers are remembered, in case the user loses one.
    ///
    /// - Parameter place: the user's place, by ``place(of:in:with:nowMilliseconds:in:)``.
    /// - Returns: the membership's id.
    /// - Throws: ``InvitesError/groupFull(membersMax:)`` or ``InvitesError/memberGroupsFull(groupsMax:)``.
    static func admit(
        _ entry: Entry,
        to groupID: GroupID,
        from place: Place,
        limits: InvitesLimits,
        nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> MemberID {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let kept = place.memberID == nil ? place.waiting.first { $0.id == entry.waitingID } ?? place.oldestWaiting : nil
        // A row that waits counts already, unless it has expired.
        if place.memberID == nil, kept?.isLive != true, place.memberCount >= limits.membersMax {
            throw InvitesError.groupFull(membersMax: limits.membersMax)
        }
        if place.memberID == nil {
            let max = entry.isChosen ? limits.chosenMembershipsMax : limits.membershipsMax
            try await MembershipRoom.require(for: entry.userID, max, in: transaction)
        }
        let merged = place.waiting.map(\.id).filter { $0 != kept?.id }
        try await transaction.execute(
            """
            WITH asked AS (
                DELETE FROM join_requests WHERE group_id = \(groupID.uuid) AND user_id = \(entry.userID.uuid)
            ), gone AS (
                DELETE FROM members WHERE group_id = \(groupID.uuid) AND member_id = ANY(\(merged.map(\.uuid)))
                    AND user_id IS NULL
                RETURNING group_id, phone, member_id, display_name, added_by, added_at, expires_at
            )
            INSERT INTO merged_numbers (group_id, phone, user_id, member_id, display_name, added_by, added_at)
            SELECT group_id, phone, \(entry.userID.uuid), member_id, display_name, added_by, added_at FROM gone
            WHERE phone IS NOT NULL AND (expires_at IS NULL OR expires_at > \(now))
            ON CONFLICT (user_id, phone, group_id) DO NOTHING
            """
        )
        if let memberID = place.memberID { return memberID }
        if let kept {
            try await link(kept.id, entry, groupID, now, in: transaction)
            return kept.id
        }
        try await insert(entry, groupID, now, in: transaction)
        return entry.newID
    }

    private static func link(
        _ id: MemberID,
        _ entry: Entry,
        _ groupID: GroupID,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        let linked = try await transaction.execute(
            """
            WITH linked AS (
                UPDATE members SET user_id = \(entry.userID.uuid), linked_at = \(now),
                    confirmed_by = \(entry.confirmedBy?.uuid), expires_at = NULL, declined_by = NULL
                WHERE group_id = \(groupID.uuid) AND member_id = \(id.uuid) AND user_id IS NULL
                RETURNING member_id, group_id, user_id, added_by
            ), told AS (
                INSERT INTO work (queue, event_id, user_id, created_at, trace, data)
                SELECT \(ServiceEventWork.queue), gen_random_uuid(), user_id, \(now), \(Traces.current),
                    jsonb_build_object('type', type, 'group_id', group_id, 'member_id', member_id)
                FROM linked CROSS JOIN wanted_events
                WHERE type = \(ServiceEventType.groupJoined.rawValue) AND added_by <> user_id
            )
            SELECT FROM linked
            """
        )
        // Expired, and deleted just now.
        guard !linked.isEmpty else { throw ConflictRetry.LostRace() }
    }

    private static func insert(
        _ entry: Entry,
        _ groupID: GroupID,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            """
            WITH told AS (
                INSERT INTO work (queue, event_id, user_id, created_at, trace, data)
                SELECT \(ServiceEventWork.queue), \(entry.newID.uuid), \(entry.userID.uuid), \(now), \(Traces.current),
                    jsonb_build_object('type', type, 'group_id', \(groupID.uuid), 'member_id', \(entry.newID.uuid))
                FROM wanted_events
                WHERE type = \(ServiceEventType.groupJoined.rawValue) AND \(entry.addedBy.uuid) <> \(entry.userID.uuid)
            )
            INSERT INTO members (group_id, member_id, user_id, added_by, added_at, linked_at, confirmed_by)
            VALUES (\(groupID.uuid), \(entry.newID.uuid), \(entry.userID.uuid), \(entry.addedBy.uuid), \(now), \(now),
                \(entry.confirmedBy?.uuid))
            """
        )
    }

    /// A member of a group, as the transaction sees them and as another member may see them.
    ///
    /// - Throws: ``InvitesError/memberNotFound``.
    static func member(
        _ id: MemberID,
        of groupID: GroupID,
        seenBy viewerID: UserID,
        in transaction: PostgresTransaction
    ) async throws -> Member {
        let rows = try await transaction.query(
            """
            SELECT \(unsafeSQL: MemberRow.columns), g.owner_user_id, g.openness, viewer.role
            FROM members m JOIN groups g ON g.group_id = m.group_id
                JOIN members viewer ON viewer.user_id = \(viewerID.uuid) AND viewer.group_id = m.group_id
            WHERE m.group_id = \(groupID.uuid) AND m.member_id = \(id.uuid)
            """
        )
        guard let row = rows.first else { throw InvitesError.memberNotFound }
        let column = MemberRow.columnCount
        let owner = UserID(try row.decode(column, as: PostgresUUID.self))
        let role = try MemberRow.role(row, at: column + 2, isOwner: viewerID == owner)
        let member = try MemberRow.member(
            row,
            owner: owner,
            openness: try GroupRow.openness(row, at: column + 1),
            viewer: MemberViewer(userID: viewerID, role: role)
        )
        guard let member else { throw InvitesError.memberNotFound }
        return member
    }
}
