import InvitesDomain
import Models
import Postgres
import ServiceModels

/// The log, read by PostgreSQL's snapshots. Each row has the number of its transaction, and a snapshot shows which transactions have ended.
struct SnapshotGroupLog: GroupChangeLog {
    private static let name = "vestibule_invites_group_events"

    let database: PostgresClient
    var channel: String? { Self.name }

    /// All in one statement, since everything else is judged by its snapshot.
    private static let here = """
        SELECT pg_current_snapshot() AS snapshot, (SELECT system_identifier FROM pg_control_system()) AS system,
            (SELECT epoch FROM group_event_epoch) AS epoch, clock_timestamp() AS now
        """

    func page(after start: GroupPosition?, limit: Int) async throws -> GroupLogPage {
        let rows = try await read(after: start?.place.point, limit: limit)
        let (snapshotText, system, epoch, now) = try rows[0].decode(
            String.self,
            Int64.self,
            PostgresUUID?.self,
            PostgresTimestamp.self
        )
        guard let epoch else {
            try await GroupEventStore.beginEpoch(database)
            return try await page(after: nil, limit: 0)
        }
        guard let snapshot = DatabaseSnapshot(text: snapshotText) else { throw GroupEventStore.unreadable }
        let head = GroupPosition(
            epoch: GroupPosition.Epoch(systemIdentifier: system, id: epoch),
            madeAtSeconds: now.secondsSince1970,
            place: .snapshot(GroupLogPoint(snapshot))
        )
        guard let start, start.epoch == head.epoch, let point = start.place.point else {
            return GroupLogPage(head: head)
        }
        var read: [GroupLogPoint.Row] = []
        var entries: [GroupLogPage.Entry] = []
        for row in rows {
            guard let text = try row.decode(4, as: String?.self) else { continue }
            guard let transaction = UInt64(text) else { throw GroupEventStore.unreadable }
            read.append(GroupLogPoint.Row(transaction: transaction, id: try row.decode(5)))
            entries.append(
                GroupLogPage.Entry(
                    key: "\(text):\(read[read.count - 1].id)",
                    event: try GroupEventStore.event(row, at: 6)
                )
            )
        }
        return GroupLogPage(start: start, head: head, entries: entries, limit: limit) { [read] count in
            point.advanced(to: read[count - 1], readBy: snapshot).map { .snapshot($0) }
        }
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
            SELECT pg_notify(\(Self.name), '') WHERE EXISTS (
                SELECT FROM pg_stat_activity WHERE datname = current_database() AND query = \("LISTEN \(Self.name)"))
            """
        )
    }

    /// Sees nothing.
    private static let beginning = DatabaseSnapshot(horizon: 1)

    /// SQL: whether a row of the log is in a point.
    private static func isRead(_ snapshot: String, _ transaction: String, _ id: String) -> String {
        "(pg_visible_in_snapshot(own.xid, \(snapshot)::pg_snapshot) OR own.xid = \(transaction)::xid8 AND own.id <= \(id))"
    }

    /// An old position in which everything since was in progress costs no more than `examinedMax` rows, and then reaches the limit.
    func missed(by absent: [AbsentSubscriber], until now: GroupLogPlace, limit: Int) async throws -> [[GroupChange]] {
        let points = absent.compactMap(\.place.point)
        guard !absent.isEmpty, points.count == absent.count, let now = now.point else { return [] }
        let rows = try await database.query(
            """
            SELECT watcher.place, e.kind, watcher.user_id, e.group_id, e.member_id
            FROM unnest(\(absent.map(\.userID.uuid)), \(points.map(\.snapshot.text))::text[],
                \(points.map(\.partialText))::text[], \(points.map(\.partialID))::bigint[])
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
                    FROM (\(unsafeSQL: GroupEventStore.recipients)) r JOIN group_events g ON g.group_id = r.group_id AND g.user_id IS NULL
                        AND g.xid >= pg_snapshot_xmin(watcher.snapshot::pg_snapshot)
                        AND (\(unsafeSQL: GroupEventStore.isForInvited)) = r.is_invited
                    WHERE r.user_id = watcher.user_id
                    LIMIT \(GroupEventStore.examinedMax)
                ) examined
                ) own
                WHERE examined_count >= \(GroupEventStore.examinedMax)
                    OR (NOT \(unsafeSQL: Self.isRead("watcher.snapshot", "watcher.partial", "watcher.partial_id"))
                        AND \(unsafeSQL: Self.isRead("here.snapshot", "here.partial", "here.partial_id")))
                ORDER BY xid, id
                LIMIT \(limit)
            ) e
            """
        )
        return try changes(rows, of: absent.count, limit: limit)
    }
}
