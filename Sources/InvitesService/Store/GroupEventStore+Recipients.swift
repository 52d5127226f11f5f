import InvitesDomain
import Models
import Postgres
import ServiceModels

/// The recipients of a group's changes.
extension GroupEventStore {
    /// The recipients of group changes for which the log names no user: the one rule, from which both queries below are made.
    ///
    /// A row says that a user gets the changes of a group that are for its members, or those for people whom it invites. Members are found
    /// by `linked_at`, and numbers by their keys, as `GroupEventTables` explains.
    private static let recipients = """
        SELECT m.group_id, m.user_id, false AS is_invited FROM members m WHERE m.linked_at IS NOT NULL
        UNION ALL
        SELECT m.group_id, p.user_id, true FROM members m JOIN phones p ON p.phone = m.phone WHERE m.user_id IS NULL
        """

    /// Whether a row of the log without a user is for people whom the group invites. In Swift it is ``Event/Audience``.
    private static let isForInvited = "g.kind = '\(GroupChange.Kind.invitationChanged.rawValue)'"

    /// Recipients of group changes, among the subscribers.
    struct Audiences: Sendable {
        var members: [GroupID: [UserID]] = [:]
        var awaited: [GroupID: [UserID]] = [:]
        /// The number of recipients, each counted once per group.
        var count = 0

        mutating func merge(_ other: Audiences) {
            members.merge(other.members) { $0 + $1 }
            awaited.merge(other.awaited) { $0 + $1 }
            count += other.count
        }
    }

    /// More subscribers are in the groups of these events than are read at once.
    struct TooManyRecipients: Error {}

    /// The maximum of subscribers in one statement.
    static let watchingMax = 10_000
    /// The maximum of recipients that are read for a set of events, each counted once per group. One group has fewer.
    static let recipientsMax = 100_000

    /// Returns which subscribers get events of groups. Nothing is read about other users.
    ///
    /// - Parameters:
    ///   - watching: all different. More than `watchingMax` take several statements.
    ///   - isByUser: whether to read only these users' memberships, and nothing else of the groups, whichever side is larger.
    /// - Throws: ``TooManyRecipients``.
    func audiences(of events: [Event], watching: [UserID], isByUser: Bool = false) async throws -> Audiences {
        var groups: Set<Event.Audience> = []
        for event in events { if case .user = event.audience { continue } else { groups.insert(event.audience) } }
        var audiences = Audiences()
        guard !groups.isEmpty else { return audiences }
        for start in stride(from: 0, to: watching.count, by: Self.watchingMax) {
            let users = watching[start..<min(start + Self.watchingMax, watching.count)].map(\.uuid)
            audiences.merge(try await read(groups, for: users, isByUser: isByUser || users.count < groups.count))
            guard audiences.count < Self.recipientsMax else { throw TooManyRecipients() }
        }
        return audiences
    }

    /// The smaller side drives: a group has a bounded number of members and a user a bounded number of groups. The other side is looked up
    /// in a hash table.
    private func read(_ groups: Set<Event.Audience>, for users: [PostgresUUID], isByUser: Bool) async throws
        -> Audiences
    {
        var (ids, areInvited): ([PostgresUUID], [Bool]) = ([], [])
        for group in groups {
            switch group {
            case .user: continue
            case .members(let id):
                ids.append(id.uuid)
                areInvited.append(false)
            case .awaited(let id):
                ids.append(id.uuid)
                areInvited.append(true)
            }
        }
        let rows =
            isByUser
            ? try await database.query(
                """
                SELECT group_id, is_invited, array_agg(user_id) FROM (
                    SELECT DISTINCT l.* FROM unnest(\(users)) AS watcher (user_id) CROSS JOIN LATERAL (
                        SELECT * FROM (\(unsafeSQL: Self.recipients)) r WHERE r.user_id = watcher.user_id OFFSET 0
                    ) l
                    WHERE ((l.group_id, l.is_invited) IN (SELECT * FROM unnest(\(ids), \(areInvited)))) IS TRUE
                    LIMIT \(Self.recipientsMax)
                ) found GROUP BY group_id, is_invited
                """
            )
            : try await database.query(
                """
                SELECT group_id, is_invited, array_agg(user_id) FROM (
                    SELECT DISTINCT l.* FROM unnest(\(ids), \(areInvited)) AS changed (group_id, is_invited) CROSS JOIN LATERAL (
                        SELECT * FROM (\(unsafeSQL: Self.recipients)) r
                        WHERE r.group_id = changed.group_id AND r.is_invited = changed.is_invited OFFSET 0
                    ) l
                    WHERE (l.user_id IN (SELECT unnest(\(users)))) IS TRUE
                    LIMIT \(Self.recipientsMax)
                ) found GROUP BY group_id, is_invited
                """
            )
        var audiences = Audiences()
        for row in rows {
            let (group, isInvited, found) = try row.decode(PostgresUUID.self, Bool.self, [PostgresUUID].self)
            let users = found.map { UserID($0) }
            audiences.count += users.count
            if isInvited {
                audiences.awaited[GroupID(group)] = users
            } else {
                audiences.members[GroupID(group)] = users
            }
        }
        return audiences
    }

    // MARK: - Missed events

    /// A subscriber who reconnects, and the point up to which they have the log.
    struct Absent: Sendable {
        let userID: UserID
        let point: GroupLogPoint
    }

    /// The maximum of rows that are read for one reconnecting subscriber; more than are delivered.
    static let examinedMax = 2_000

    /// SQL: whether a row of the log is in a point.
    private static func isRead(_ snapshot: String, _ transaction: String, _ id: String) -> String {
        "(pg_visible_in_snapshot(own.xid, \(snapshot)::pg_snapshot) OR own.xid = \(transaction)::xid8 AND own.id <= \(id))"
    }

    /// Returns what each user missed between their point and the current one, in the order of `absent`.
    ///
    /// An old position in which everything since was in progress costs no more than `examinedMax` rows, and then reaches the limit.
    ///
    /// - Parameter limit: the most events for each. If that many are returned there may be more.
    func missed(by absent: [Absent], until now: GroupLogPoint, limit: Int) async throws -> [[GroupChange]] {
        guard !absent.isEmpty else { return [] }
        let rows = try await database.query(
            """
            SELECT watcher.place, e.kind, watcher.user_id, e.group_id, e.member_id
            FROM unnest(\(absent.map(\.userID.uuid)), \(absent.map(\.point.snapshot.text))::text[],
                \(absent.map(\.point.partialText))::text[], \(absent.map(\.point.partialID))::bigint[])
                WITH ORDINALITY AS watcher (user_id, snapshot, partial, partial_id, place)
            CROSS JOIN (SELECT \(now.snapshot.text)::text AS snapshot, \(now.partialText)::text AS partial,
                \(now.partialID)::bigint AS partial_id) AS here
            CROSS JOIN LATERAL (
                SELECT kind, group_id, member_id FROM (
                SELECT examined.*, count(*) OVER () AS examined_count FROM (
                    SELECT xid, id, kind, group_id, member_id FROM group_events
                    WHERE user_id = watcher.user_id AND xid >= pg_snapshot_xmin(watcher.snapshot::pg_snapshot)
                    UNION ALL
                    SELECT g.xid, g.id, g.kind, g.group_id, g.member_id
                    FROM (\(unsafeSQL: Self.recipients)) r JOIN group_events g ON g.group_id = r.group_id AND g.user_id IS NULL
                        AND g.xid >= pg_snapshot_xmin(watcher.snapshot::pg_snapshot)
                        AND (\(unsafeSQL: Self.isForInvited)) = r.is_invited
                    WHERE r.user_id = watcher.user_id
                    LIMIT \(Self.examinedMax)
                ) examined
                ) own
                WHERE examined_count >= \(Self.examinedMax)
                    OR (NOT \(unsafeSQL: Self.isRead("watcher.snapshot", "watcher.partial", "watcher.partial_id"))
                        AND \(unsafeSQL: Self.isRead("here.snapshot", "here.partial", "here.partial_id")))
                ORDER BY xid, id
                LIMIT \(limit)
            ) e
            """
        )
        var missed = [[GroupChange]](repeating: [], count: absent.count)
        var rowCounts = [Int](repeating: 0, count: absent.count)
        for row in rows {
            let place = Int(try row.decode(0, as: Int64.self)) - 1
            guard missed.indices.contains(place) else { throw Self.unreadable }
            rowCounts[place] += 1
            // A kind of a later version is for that version's replicas.
            if let event = try Self.event(row, at: 1) { missed[place].append(event.change) }
        }
        // If such kinds used up the limit it is unknown what is behind them. A list that reaches the limit says so.
        for place in missed.indices where rowCounts[place] >= limit && missed[place].count < limit {
            guard let change = missed[place].last else { throw Self.unreadable }
            missed[place] += Array(repeating: change, count: limit - missed[place].count)
        }
        return missed
    }
}
