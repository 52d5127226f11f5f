import InvitesDomain
import Models
import Postgres
import RPC
import ServiceModels

/// The log of changes in groups, in PostgreSQL: triggers write it, and this reads it.
struct GroupEventStore: Sendable {
    /// The channel on which replicas that changed something notify the others.
    static let channel = "vestibule_invites_group_events"

    let database: PostgresClient

    /// A change and its audience.
    struct Event: Sendable, Hashable {
        /// The recipients of a change.
        enum Audience: Sendable, Hashable {
            case user(UserID)
            /// The members of a group at the moment of delivery.
            case members(GroupID)
            /// The users who have a number that a group awaits at the moment of delivery.
            case awaited(GroupID)
        }

        let change: GroupChange
        let audience: Audience
    }

    /// A row of the log.
    struct Entry: Sendable {
        let row: GroupLogPoint.Row
        /// Nil for a kind of a later version.
        let event: Event?
    }

    /// The unread part of the log that one snapshot of the database sees, or its first rows.
    struct Page: Sendable {
        /// The position from which it was read; nil for no entries.
        let start: GroupPosition?
        /// The position that the database's snapshot sees.
        let head: GroupPosition
        /// In the order of the log.
        let entries: [Entry]
        /// Whether there may be more.
        let isFull: Bool

        /// The events of some entries.
        func events(in places: Range<Int>) -> [Event] { entries[places].compactMap(\.event) }

        /// The position after the first entries.
        func position(behind count: Int) -> GroupPosition {
            guard let start, count < entries.count || isFull else { return head }
            guard count > 0,
                let point = start.point.advanced(to: entries[count - 1].row, readBy: head.point.snapshot)
            else { return start }
            // The time stays, since unread rows may be as old.
            return GroupPosition(epoch: start.epoch, madeAtSeconds: start.madeAtSeconds, point: point)
        }
    }

    /// All in one statement, since everything else is judged by its snapshot.
    private static let here = """
        SELECT pg_current_snapshot() AS snapshot, (SELECT system_identifier FROM pg_control_system()) AS system,
            (SELECT epoch FROM group_event_epoch) AS epoch, clock_timestamp() AS now
        """

    /// Reads the next page of the log.
    ///
    /// - Parameters:
    ///   - start: the position up to which the log was read; nil for no entries. A position of another epoch gives none either.
    ///   - limit: the most rows to read.
    func page(after start: GroupPosition?, limit: Int) async throws -> Page {
        let rows = try await read(after: start?.point, limit: limit)
        let (snapshotText, system, epoch, now) = try rows[0].decode(
            String.self,
            Int64.self,
            PostgresUUID?.self,
            PostgresTimestamp.self
        )
        guard let epoch else {
            try await beginEpoch()
            return try await page(after: nil, limit: 0)
        }
        guard let snapshot = DatabaseSnapshot(text: snapshotText) else { throw Self.unreadable }
        let head = GroupPosition(
            epoch: GroupPosition.Epoch(systemIdentifier: system, id: epoch),
            madeAtSeconds: now.secondsSince1970,
            point: GroupLogPoint(snapshot)
        )
        guard let start, start.epoch == head.epoch else {
            return Page(start: nil, head: head, entries: [], isFull: false)
        }
        let entries = try rows.compactMap { row -> Entry? in
            guard let text = try row.decode(4, as: String?.self) else { return nil }
            guard let transaction = UInt64(text) else { throw Self.unreadable }
            return Entry(
                row: GroupLogPoint.Row(transaction: transaction, id: try row.decode(5)),
                event: try Self.event(row, at: 6)
            )
        }
        return Page(start: start, head: head, entries: entries, isFull: entries.count >= limit)
    }

    /// Reads the rows after a point in their order, each part by the key of the table: the rest of the partly read transaction, the
    /// transactions that ended late, and those after all of these. A part is read only as far as the parts before it leave room, so that an
    /// unreadable row doesn't hold back the rows before it.
    private func read(after start: GroupLogPoint?, limit: Int) async throws -> Rows {
        let point = start ?? GroupLogPoint(Self.beginning)
        let (unread, limit) = (point.unread, start == nil ? 0 : limit)
        return try await database.query(
            """
            WITH here AS MATERIALIZED (\(unsafeSQL: Self.here)),
            rest AS MATERIALIZED (
                SELECT 0 AS part, xid, id, kind, user_id, group_id, member_id FROM group_events
                WHERE xid = \(point.partialText)::text::xid8 AND id > \(point.partialID)
                    AND pg_visible_in_snapshot(xid, (SELECT snapshot FROM here))
                ORDER BY xid, id LIMIT \(limit)::bigint
            ),
            late AS MATERIALIZED (
                SELECT 1 AS part, xid, id, kind, user_id, group_id, member_id FROM group_events
                WHERE xid = ANY(\(unread.late)::text[]::xid8[]) AND pg_visible_in_snapshot(xid, (SELECT snapshot FROM here))
                ORDER BY xid, id LIMIT \(limit)::bigint - (SELECT count(*) FROM rest)
            ),
            behind AS MATERIALIZED (
                -- Of a row that was restored from elsewhere the transaction may still be to come.
                SELECT 2 AS part, xid, id, kind, user_id, group_id, member_id FROM group_events
                WHERE xid >= \(unread.from)::text::xid8 AND pg_visible_in_snapshot(xid, (SELECT snapshot FROM here))
                ORDER BY xid, id LIMIT \(limit)::bigint - (SELECT count(*) FROM rest) - (SELECT count(*) FROM late)
            )
            SELECT here.snapshot::text, here.system, here.epoch, here.now, e.xid::text, e.id, e.kind, e.user_id, e.group_id,
                e.member_id
            FROM here LEFT JOIN (
                SELECT * FROM rest UNION ALL SELECT * FROM late UNION ALL SELECT * FROM behind
            ) e ON true
            ORDER BY e.part, e.xid, e.id
            """
        )
    }

    /// Notifies all replicas that something may have changed. In a separate transaction: notifying takes a lock until the commit, of which
    /// the server has only one. And only if a replica listens: otherwise it would be a commit for nothing.
    func notify() async throws(PostgresError) {
        try await database.execute(
            """
            SELECT pg_notify(\(Self.channel), '') WHERE EXISTS (
                SELECT FROM pg_stat_activity WHERE datname = current_database() AND query = \("LISTEN \(Self.channel)"))
            """
        )
    }

    /// Deletes changes that are older than `age`, at most `limit` of them, and returns how many.
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
    static func event(_ row: Row, at column: Int) throws -> Event? {
        guard let name = try row.decode(column, as: String?.self) else { return nil }
        // A kind of a later version is for that version's replicas.
        guard let kind = GroupChange.Kind(rawValue: name) else { return nil }
        let groupID = try row.decode(column + 2, as: PostgresUUID?.self).map { GroupID($0) }
        let userID = try row.decode(column + 1, as: PostgresUUID?.self).map { UserID($0) }
        let change = GroupChange(
            kind,
            // Only the user is named, not the group.
            groupID: kind == .invitationChanged ? nil : groupID,
            memberID: try row.decode(column + 3, as: PostgresUUID?.self).map { MemberID($0) }
        )
        if let userID { return Event(change: change, audience: .user(userID)) }
        // Without a group and without a user: from a later version.
        guard let groupID else { return nil }
        return Event(change: change, audience: kind == .invitationChanged ? .awaited(groupID) : .members(groupID))
    }

    /// Sees nothing.
    private static let beginning = DatabaseSnapshot(horizon: 1)

    static let unreadable = PostgresError.decoding(CellDecodingError(column: 0, reason: "no snapshot"))
}
