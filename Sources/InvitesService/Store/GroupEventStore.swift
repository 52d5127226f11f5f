import InvitesDomain
import Models
import Postgres
import RPC
import ServiceModels

/// What has changed in groups, in PostgreSQL: triggers write it, and here it is read.
struct GroupEventStore: Sendable {
    /// Replicas that have changed something notify the others on it.
    static let channel = "vestibule_invites_group_events"

    let database: PostgresClient

    /// A change and whom it is for.
    struct Event: Sendable, Hashable {
        /// Whom a change is for.
        enum Audience: Sendable, Hashable {
            case user(UserID)
            /// The members of a group as they are when it is told.
            case members(GroupID)
            /// Those who have a number that a group awaits when it is told.
            case awaited(GroupID)
        }

        let change: GroupChange
        let audience: Audience
    }

    /// Who is concerned by changes of groups.
    struct Audiences: Sendable {
        var members: [GroupID: [UserID]] = [:]
        var awaited: [GroupID: [UserID]] = [:]
    }

    /// What one snapshot of the database sees and the one before did not.
    struct Look: Sendable {
        let position: GroupPosition
        let events: [Event]
    }

    /// Who wants to know what they have missed.
    struct Absent: Sendable {
        let userID: UserID
        let snapshot: DatabaseSnapshot
    }

    /// All at once in one statement, since it is the statement's snapshot that the rest is told by.
    private static let here = """
        SELECT pg_current_snapshot() AS snapshot, (SELECT system_identifier FROM pg_control_system()) AS system,
            (SELECT epoch FROM group_event_epoch) AS epoch, clock_timestamp() AS now
        """

    /// What was committed since a snapshot.
    ///
    /// - Parameters:
    ///   - earlier: a snapshot of the same epoch; nil for no events.
    ///   - limit: the most events to read. If so many come there may be more.
    func look(since earlier: DatabaseSnapshot?, limit: Int) async throws -> Look {
        let text = earlier?.text ?? "1:1:"
        let rows = try await database.query(
            """
            SELECT here.snapshot::text, here.system, here.epoch, here.now, e.kind, e.user_id, e.group_id, e.member_id
            FROM (\(unsafeSQL: Self.here)) here LEFT JOIN LATERAL (
                SELECT kind, user_id, group_id, member_id FROM group_events
                WHERE (xid >= pg_snapshot_xmax(\(text)::pg_snapshot)
                        OR xid = ANY (ARRAY(SELECT pg_snapshot_xip(\(text)::pg_snapshot))))
                    -- Of one that was restored from elsewhere the number may still be to come.
                    AND pg_visible_in_snapshot(xid, here.snapshot)
                LIMIT \(earlier == nil ? 0 : limit)
            ) e ON true
            """
        )
        let (snapshotText, system, epoch, now) = try rows[0].decode(
            String.self,
            Int64.self,
            PostgresUUID?.self,
            PostgresTimestamp.self
        )
        guard let epoch else {
            try await beginEpoch()
            return try await look(since: nil, limit: 0)
        }
        guard let snapshot = DatabaseSnapshot(text: snapshotText) else { throw Self.unreadable }
        let position = GroupPosition(
            epoch: GroupPosition.Epoch(systemIdentifier: system, id: epoch),
            madeAtSeconds: now.secondsSince1970,
            snapshot: snapshot
        )
        return Look(position: position, events: try rows.compactMap { try Self.event($0, at: 4) })
    }

    /// Whom events of groups are told: the members that are users, and those who have numbers that groups await.
    func audiences(of events: [Event]) async throws -> Audiences {
        var (ofMembers, ofAwaited): (Set<GroupID>, Set<GroupID>) = ([], [])
        for event in events {
            switch event.audience {
            case .user: continue
            case .members(let groupID): ofMembers.insert(groupID)
            case .awaited(let groupID): ofAwaited.insert(groupID)
            }
        }
        guard !ofMembers.isEmpty || !ofAwaited.isEmpty else { return Audiences() }
        let rows = try await database.query(
            """
            SELECT group_id, true, array_agg(user_id) FROM members
            WHERE group_id = ANY(\(ofMembers.map(\.uuid))) AND linked_at IS NOT NULL GROUP BY group_id
            UNION ALL
            SELECT m.group_id, false, array_agg(DISTINCT p.user_id)
            FROM members m CROSS JOIN LATERAL (SELECT user_id FROM phones WHERE phone = m.phone OFFSET 0) p
            WHERE m.group_id = ANY(\(ofAwaited.map(\.uuid))) AND m.user_id IS NULL AND p.user_id IS NOT NULL
            GROUP BY m.group_id
            """
        )
        var audiences = Audiences()
        for row in rows {
            let (group, areMembers, users) = try row.decode(PostgresUUID.self, Bool.self, [PostgresUUID].self)
            if areMembers {
                audiences.members[GroupID(group)] = users.map { UserID($0) }
            } else {
                audiences.awaited[GroupID(group)] = users.map { UserID($0) }
            }
        }
        return audiences
    }

    /// The most rows that are looked at for one who comes back; more than are told.
    static let examinedMax = 2_000

    /// What each of those missed between their snapshot and one of now, in the order in which they are given.
    ///
    /// A position is a client's word: one that was made up, from long ago with everything since under way, makes no more work than
    /// `examinedMax` rows, and comes to the limit then.
    ///
    /// - Parameter limit: the most events for each. If so many come there may be more.
    func missed(by absent: [Absent], until now: DatabaseSnapshot, limit: Int) async throws -> [[GroupChange]] {
        guard !absent.isEmpty else { return [] }
        let users = absent.map(\.userID.uuid)
        let snapshots = absent.map(\.snapshot.text)
        let invitations = GroupChange.Kind.invitationChanged.rawValue
        let rows = try await database.query(
            """
            SELECT watcher.place, e.kind, watcher.user_id, e.group_id, e.member_id
            FROM unnest(\(users), \(snapshots)::text[]) WITH ORDINALITY AS watcher (user_id, snapshot, place)
            CROSS JOIN LATERAL (
                SELECT kind, group_id, member_id FROM (
                SELECT examined.*, count(*) OVER () AS examined_count FROM (
                    SELECT xid, kind, group_id, member_id FROM group_events
                    WHERE user_id = watcher.user_id AND xid >= pg_snapshot_xmin(watcher.snapshot::pg_snapshot)
                    UNION ALL
                    SELECT g.xid, g.kind, g.group_id, g.member_id
                    FROM members m JOIN group_events g ON g.group_id = m.group_id AND g.user_id IS NULL
                        AND g.xid >= pg_snapshot_xmin(watcher.snapshot::pg_snapshot)
                        AND g.kind <> \(invitations)
                    WHERE m.user_id = watcher.user_id
                    UNION ALL
                    SELECT g.xid, g.kind, g.group_id, g.member_id
                    FROM phones p JOIN members m ON m.phone = p.phone AND m.user_id IS NULL
                        JOIN group_events g ON g.group_id = m.group_id AND g.user_id IS NULL
                            AND g.xid >= pg_snapshot_xmin(watcher.snapshot::pg_snapshot)
                            AND g.kind = \(invitations)
                    WHERE p.user_id = watcher.user_id
                    LIMIT \(Self.examinedMax)
                ) examined
                ) own
                WHERE examined_count >= \(Self.examinedMax)
                    OR (NOT pg_visible_in_snapshot(xid, watcher.snapshot::pg_snapshot)
                        AND pg_visible_in_snapshot(xid, \(now.text)::pg_snapshot))
                LIMIT \(limit)
            ) e
            """
        )
        var missed = [[GroupChange]](repeating: [], count: absent.count)
        for row in rows {
            let place = Int(try row.decode(0, as: Int64.self)) - 1
            guard missed.indices.contains(place), let event = try Self.event(row, at: 1) else { throw Self.unreadable }
            missed[place].append(event.change)
        }
        return missed
    }

    /// Tells all replicas that something may have changed. In a transaction of its own: notifying takes a lock until the commit, of
    /// which the server has one. And only if somebody listens: else it would be a commit for nothing.
    func notify() async throws(PostgresError) {
        try await database.execute(
            """
            SELECT pg_notify(\(Self.channel), '') WHERE EXISTS (
                SELECT FROM pg_stat_activity WHERE datname = current_database() AND query = \("LISTEN \(Self.channel)"))
            """
        )
    }

    /// Forgets what changed longer ago than that, at most `limit` changes, and tells how many.
    func forget(olderThan age: Duration, limit: Int) async throws -> Int {
        let seconds = Double(age.components.seconds)
        return try await database.execute(
            """
            DELETE FROM group_events WHERE (xid, id) IN (
                SELECT xid, id FROM group_events WHERE made_at <= now() - make_interval(secs => \(seconds))
                ORDER BY made_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
    }

    /// Names the epoch that a crash, a failover or the first start began; two replicas agree on one name.
    private func beginEpoch() async throws {
        try await database.execute("INSERT INTO group_event_epoch DEFAULT VALUES ON CONFLICT (singleton) DO NOTHING")
    }

    /// The event of a row from a column on: kind, user, group, member; nil for nulls.
    private static func event(_ row: Row, at column: Int) throws -> Event? {
        guard let name = try row.decode(column, as: String?.self) else { return nil }
        // A kind of a later version is for its replicas.
        guard let kind = GroupChange.Kind(rawValue: name) else { return nil }
        let groupID = try row.decode(column + 2, as: PostgresUUID?.self).map { GroupID($0) }
        let userID = try row.decode(column + 1, as: PostgresUUID?.self).map { UserID($0) }
        let change = GroupChange(
            kind,
            // Of whose invitations is told, and not where.
            groupID: kind == .invitationChanged ? nil : groupID,
            memberID: try row.decode(column + 3, as: PostgresUUID?.self).map { MemberID($0) }
        )
        if let userID { return Event(change: change, audience: .user(userID)) }
        // Of nobody's group and for nobody: of a later version.
        guard let groupID else { return nil }
        return Event(change: change, audience: kind == .invitationChanged ? .awaited(groupID) : .members(groupID))
    }

    private static let unreadable = PostgresError.decoding(DecodingFault(column: 0, reason: "no snapshot"))
}
