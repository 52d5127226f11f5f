import InvitesDomain
import Models
import Postgres
import ServiceKit
import ServiceModels

/// The steps by which a user becomes a member who accepts, is confirmed, or comes by a link.
///
/// Locks are taken in the order of all others: the user's lock (``UserLocks``), the user's numbers, the group. Whoever registers or adds
/// one of these numbers comes before or after, and the person is in the group once.
enum Admission {
    /// A row that waits for a number of the user's.
    struct Waiting: Sendable {
        /// The membership's id.
        let id: MemberID
        /// Whether the row has not expired.
        let isLive: Bool
        /// Whether the user declined it.
        let isDeclined: Bool
        /// Whether the user blocks all who have added it.
        let isBlocked: Bool

        /// Whether the user is waited for as far as both sides know.
        var isShown: Bool { isLive && !isDeclined && !isBlocked }
    }

    /// Where a user stands in a group.
    struct Place: Sendable {
        /// The user's membership.
        let memberID: MemberID?
        /// Their request to join.
        let requestID: MemberID?
        /// What waits for their numbers, oldest first.
        let waiting: [Waiting]
        /// How many members the group has, with those it waits for.
        let memberCount: Int
        /// How many ask to join it.
        let requestCount: Int

        /// What waits for longest, and hasn't expired if there is such.
        var oldestWaiting: Waiting? { waiting.first(where: \.isLive) ?? waiting.first }
    }

    /// How a user comes in.
    struct Entry: Sendable {
        /// The user.
        let userID: UserID
        /// The row that becomes the membership; nil for any that waits for the user.
        var waitingID: MemberID?
        /// The membership's id where nothing waits for the user.
        let newID: MemberID
        /// Who added them, where nothing waits for the user.
        let addedBy: UserID
        /// Who says that the user is the person meant; nil for one who is in by the number alone.
        let confirmedBy: UserID?
        /// Whether the user wants it, and not others alone.
        let isChosen: Bool
    }

    /// Locks the numbers that a user has until the transaction ends, in the order of their digits, and tells them; and one number more,
    /// whoever has it.
    ///
    /// - Throws: `ConflictRetry.LostRace` if the user got another number while theirs was waited for: the transaction begins anew.
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
        // The one before looked for them before it waited: of a number that became theirs since it has no row.
        let theirs = try await transaction.query("SELECT phone FROM phones WHERE user_id = \(userID.uuid)")
        for row in theirs where !phones.contains(try row.decode(0)) { throw ConflictRetry.LostRace() }
        return phones
    }

    /// Locks a group until the transaction ends, if the user is in it or it waits for one of their numbers; whether that is so.
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

    /// Refuses what would change something for an account that is closed, or of which that isn't decided. After the locks.
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

    /// Where a user stands in a group. After the locks, so that it stays so until the transaction ends.
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

    /// Makes the user a member, or finds that they are one. All that waited for the user in the group becomes that one membership, and
    /// targets of webhooks are told. The further numbers are remembered, in case the user loses one.
    ///
    /// - Parameter place: where the user stands, by ``place(of:in:with:nowMilliseconds:in:)``.
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
        // What is waited for counts already, unless it has expired.
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
                INSERT INTO event_outbox (event_id, type, user_id, group_id, member_id, created_at, trace)
                SELECT gen_random_uuid(), type, user_id, group_id, member_id, \(now), \(Traces.current)
                FROM linked CROSS JOIN wanted_events
                WHERE type = \(ServiceEventType.groupJoined.rawValue) AND added_by <> user_id
            )
            SELECT FROM linked
            """
        )
        // Expired, and cleaned away in this moment.
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
                INSERT INTO event_outbox (event_id, type, user_id, group_id, member_id, created_at, trace)
                SELECT \(entry.newID.uuid), type, \(entry.userID.uuid), \(groupID.uuid), \(entry.newID.uuid), \(now), \(Traces.current)
                FROM wanted_events
                WHERE type = \(ServiceEventType.groupJoined.rawValue) AND \(entry.addedBy.uuid) <> \(entry.userID.uuid)
            )
            INSERT INTO members (group_id, member_id, user_id, added_by, added_at, linked_at, confirmed_by)
            VALUES (\(groupID.uuid), \(entry.newID.uuid), \(entry.userID.uuid), \(entry.addedBy.uuid), \(now), \(now),
                \(entry.confirmedBy?.uuid))
            """
        )
    }

    /// A member of a group, as the transaction sees them and another member is shown them.
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
