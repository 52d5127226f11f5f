import InvitesDomain
import Models
import Postgres
import ServiceModels
import ServiceStore

/// The log, read by the times of its rows, for databases whose snapshots can't be compared, and that notify nobody.
///
/// Subscribers get each change once while they are connected. A returning subscriber gets those of the last minute before again, which are hints to
/// read anew and do no harm.
struct ClockGroupLog: GroupChangeLog {
    typealias Window = ClockWindow<Int64>

    let database: PostgresClient
    var channel: String? { nil }

    private static let here = "SELECT (SELECT epoch FROM group_event_epoch) AS epoch, clock_timestamp() AS now"

    func page(after start: GroupPosition?, limit: Int) async throws -> GroupLogPage {
        guard let start, let window = start.place.window else { return try await beginning() }
        let rows = try await database.readByClock(
            """
            SELECT here.epoch, here.now, e.made_at, e.id, e.kind, e.user_id, e.group_id, e.member_id
            FROM (\(unsafeSQL: Self.here)) here LEFT JOIN (
                SELECT made_at, id, kind, user_id, group_id, member_id FROM group_events
                WHERE made_at >= \(PostgresTimestamp(microsecondsSince1970: window.start)) AND id NOT IN (SELECT unnest(\(window.leftOut)))
                ORDER BY made_at, id LIMIT \(limit)::bigint
            ) e ON true
            ORDER BY e.made_at, e.id
            """
        )
        let (epoch, now) = try rows[0].decode(PostgresUUID?.self, PostgresTimestamp.self)
        guard let epoch, start.epoch == Self.epoch(epoch) else { return try await beginning() }
        var read: [Window.Row] = []
        var entries: [GroupLogPage.Entry] = []
        for row in rows {
            guard let madeAt = try row.decode(2, as: PostgresTimestamp?.self) else { continue }
            let id = try row.decode(3, as: Int64.self)
            read.append(Window.Row(id: id, microseconds: madeAt.microsecondsSince1970))
            entries.append(GroupLogPage.Entry(key: "\(id)", event: try GroupEventStore.event(row, at: 4)))
        }
        guard let all = window.advanced(by: read[...], now: now.microsecondsSince1970) else {
            return try await beginning()
        }
        let head = position(epoch, now, all)
        return GroupLogPage(start: start, head: head, entries: entries, limit: limit) { [read] count in
            window.advanced(by: read[..<count], now: nil).map { .clock($0) }
        }
    }

    /// Where reading begins: all that is visible is known.
    private func beginning() async throws -> GroupLogPage {
        let rows = try await database.readByClock(
            """
            SELECT here.epoch, here.now, e.made_at, e.id FROM (\(unsafeSQL: Self.here)) here LEFT JOIN (
                SELECT made_at, id FROM group_events
                WHERE made_at >= now() - make_interval(secs => \(Double(Window.latenessMax) / 1_000_000))
                ORDER BY made_at DESC LIMIT \(Window.knownMax)::bigint
            ) e ON true
            """
        )
        let (epoch, now) = try rows[0].decode(PostgresUUID?.self, PostgresTimestamp.self)
        guard let epoch else {
            try await GroupEventStore.beginEpoch(database)
            return try await beginning()
        }
        let known = try rows.compactMap { row -> Window.Row? in
            guard let madeAt = try row.decode(2, as: PostgresTimestamp?.self) else { return nil }
            return Window.Row(id: try row.decode(3), microseconds: madeAt.microsecondsSince1970)
        }
        return GroupLogPage(head: position(epoch, now, Window(end: now.microsecondsSince1970, known: known)))
    }

    private func position(_ epoch: PostgresUUID, _ now: PostgresTimestamp, _ window: Window) -> GroupPosition {
        GroupPosition(epoch: Self.epoch(epoch), madeAtSeconds: now.secondsSince1970, place: .clock(window))
    }

    /// Nothing here depends on one server, so there is no number of it.
    private static func epoch(_ id: PostgresUUID) -> GroupPosition.Epoch {
        GroupPosition.Epoch(systemIdentifier: 0, id: id)
    }

    /// Reads from a minute before, so nothing that the current place lacks needs to be left out: looks repeat it.
    func missed(by absent: [AbsentSubscriber], until _: GroupLogPlace, limit: Int) async throws -> [[GroupChange]] {
        let windows = absent.compactMap(\.place.window)
        guard !absent.isEmpty, windows.count == absent.count else { return [] }
        let from = windows.map { PostgresTimestamp(microsecondsSince1970: $0.missedFrom) }
        let rows = try await database.readByClock(
            """
            SELECT watcher.place, e.kind, watcher.user_id, e.group_id, e.member_id
            FROM unnest(\(absent.map(\.userID.uuid)), \(from)) WITH ORDINALITY AS watcher (user_id, missed_from, place)
            CROSS JOIN LATERAL (
                SELECT kind, group_id, member_id FROM (
                    SELECT made_at, id, kind, group_id, member_id FROM group_events
                    WHERE user_id = watcher.user_id AND made_at >= watcher.missed_from
                    UNION ALL
                    SELECT of_group.* FROM (\(unsafeSQL: GroupEventStore.recipients)) r CROSS JOIN LATERAL (
                        SELECT g.made_at, g.id, g.kind, g.group_id, g.member_id FROM group_events g
                        WHERE g.group_id = r.group_id AND g.user_id IS NULL AND g.made_at >= watcher.missed_from
                            AND (\(unsafeSQL: GroupEventStore.isForInvited)) = r.is_invited OFFSET 0
                    ) of_group
                    WHERE r.user_id = watcher.user_id
                    LIMIT \(GroupEventStore.examinedMax)
                ) examined
                ORDER BY made_at, id
                LIMIT \(limit)
            ) e
            """
        )
        return try changes(rows, of: absent.count, limit: limit)
    }

    func notify() async throws(PostgresError) {}
}
