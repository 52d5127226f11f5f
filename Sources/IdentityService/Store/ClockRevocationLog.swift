import Models
import Postgres
import RPC
import ServiceModels
import ServiceStore

/// What a read of the log by its clock saw.
struct RevocationClock: Sendable, Hashable {
    let sessions: ClockWindow<Int64>
    let changes: ClockWindow<PostgresUUID>
}

/// The log, read by the times of its rows, for databases whose snapshots can't be compared, and that notify nobody. A horizon is a time in
/// microseconds since 1970.
struct ClockRevocationLog: RevocationLog {
    let database: PostgresClient
    var channel: String? { nil }

    /// Always the same: a time means the same to all servers, and a restore moves the time from which sessions count.
    private static let identity = DatabaseIdentity(systemIdentifier: 0, timeline: 0)
    /// Of a read after which it is unknown what was missed: as in another database, all begin anew.
    private static let unknown = DatabaseIdentity(systemIdentifier: 0, timeline: 1)
    private static let here = "SELECT clock_timestamp() AS now, (SELECT sessions_from FROM session_epoch) AS epoch"

    func read(
        since earlier: RevocationsSeen?,
        limit: Int,
        changesMax: Int
    ) async throws -> RevocationsRead {
        guard case .clock(let clock) = earlier else { return try await beginning() }
        // Ids of events have milliseconds, and are made by rounding.
        let changesFrom = PostgresTimestamp(milliseconds: (clock.changes.start + 999) / 1000)
        let rows = try await database.readByClock(
            """
            SELECT here.now, here.epoch, log.id, log.session_id, log.revoked_at, log.event_id, \(unsafeSQL: AccountChange.columns)
            FROM (\(unsafeSQL: Self.here)) here LEFT JOIN (
                (SELECT id, session_id, revoked_at, NULL::uuid AS event_id, NULL::uuid AS user_id, NULL AS kind,
                    NULL::timestamptz AS occurred_at, NULL AS provider, NULL::uuid AS by_session_id
                FROM revocations
                WHERE revoked_at >= \(PostgresTimestamp(microsecondsSince1970: clock.sessions.start))
                    AND id NOT IN (SELECT unnest(\(clock.sessions.leftOut)))
                LIMIT \(limit))
                UNION ALL
                (SELECT NULL, NULL, NULL, event_id, user_id, kind, occurred_at, details ->> 'provider', session_id
                FROM security_events
                WHERE event_id >= security_event_id(\(changesFrom), true)
                    AND event_id NOT IN (SELECT unnest(\(clock.changes.leftOut)))
                    AND \(unsafeSQL: AccountChange.isChange) AND user_id IS NOT NULL
                LIMIT \(changesMax))
            ) log ON true
            """
        )
        let (now, epoch) = try rows[0].decode(PostgresTimestamp.self, PostgresTimestamp?.self)
        var sessionIDs: [SessionID] = []
        var accountChanges: [AccountChange] = []
        var (ended, changed): ([ClockWindow<Int64>.Row], [ClockWindow<PostgresUUID>.Row]) = ([], [])
        for row in rows {
            if let change = try AccountChange(row, from: 6) {
                accountChanges.append(change)
                changed.append(.init(id: try row.decode(5), microseconds: change.occurredAtMilliseconds * 1000))
            } else if let session = try row.decode(3, as: PostgresUUID?.self) {
                sessionIDs.append(SessionID(session))
                let revokedAt = try row.decode(4, as: PostgresTimestamp.self)
                ended.append(.init(id: try row.decode(2), microseconds: revokedAt.microsecondsSince1970))
            }
        }
        let sessions = clock.sessions.advanced(by: ended[...], now: now.microsecondsSince1970)
        let changes = clock.changes.advanced(by: changed[...], now: now.microsecondsSince1970)
        let after = sessions.flatMap { sessions in changes.map { RevocationClock(sessions: sessions, changes: $0) } }
        return RevocationsRead(
            seen: .clock(after ?? clock),
            database: after == nil ? Self.unknown : Self.identity,
            epoch: epoch,
            sessionIDs: sessionIDs,
            accountChanges: accountChanges,
            last: nil
        )
    }

    /// Where reading begins: all that is visible is known. Watchers read by themselves what ended before.
    private func beginning() async throws -> RevocationsRead {
        let lateness = Double(ClockWindow<Int64>.latenessMax) / 1_000_000
        let rows = try await database.readByClock(
            """
            SELECT here.now, here.epoch, known.id, known.revoked_at, known.event_id, known.occurred_at
            FROM (\(unsafeSQL: Self.here)) here LEFT JOIN (
                (SELECT id, revoked_at, NULL::uuid AS event_id, NULL::timestamptz AS occurred_at FROM revocations
                WHERE revoked_at >= now() - make_interval(secs => \(lateness))
                ORDER BY revoked_at DESC LIMIT \(ClockWindow<Int64>.knownMax)::bigint)
                UNION ALL
                (SELECT NULL, NULL, event_id, occurred_at FROM security_events
                WHERE event_id >= security_event_id(now() - make_interval(secs => \(lateness)), true)
                    AND \(unsafeSQL: AccountChange.isChange)
                ORDER BY event_id DESC LIMIT \(ClockWindow<Int64>.knownMax)::bigint)
            ) known ON true
            """
        )
        let (now, epoch) = try rows[0].decode(PostgresTimestamp.self, PostgresTimestamp?.self)
        var (ended, changed): ([ClockWindow<Int64>.Row], [ClockWindow<PostgresUUID>.Row]) = ([], [])
        for row in rows {
            if let id = try row.decode(2, as: Int64?.self) {
                let revokedAt = try row.decode(3, as: PostgresTimestamp.self)
                ended.append(.init(id: id, microseconds: revokedAt.microsecondsSince1970))
            } else if let id = try row.decode(4, as: PostgresUUID?.self) {
                let occurredAt = try row.decode(5, as: PostgresTimestamp.self)
                changed.append(.init(id: id, microseconds: occurredAt.milliseconds * 1000))
            }
        }
        let end = now.microsecondsSince1970
        return RevocationsRead(
            seen: .clock(
                RevocationClock(
                    sessions: ClockWindow(end: end, known: ended),
                    changes: ClockWindow(end: end, known: changed)
                )
            ),
            database: Self.identity,
            epoch: epoch,
            sessionIDs: [],
            accountChanges: [],
            last: nil
        )
    }

    func read(
        after place: RevocationPlace,
        limit: Int,
        deadline: Deadline?
    ) async throws -> RevocationsRead {
        let from = PostgresTimestamp(microsecondsSince1970: Int64(clamping: place.number))
        let rows = try await database.readByClock(
            """
            SELECT here.now, here.epoch, log.id, log.session_id, log.revoked_at FROM (\(unsafeSQL: Self.here)) here LEFT JOIN (
                SELECT id, session_id, revoked_at FROM revocations
                WHERE (revoked_at, id) > (\(from), \(place.id)) ORDER BY revoked_at, id LIMIT \(limit)
            ) log ON true ORDER BY log.revoked_at, log.id
            """,
            deadline: deadline
        )
        let (now, epoch) = try rows[0].decode(PostgresTimestamp.self, PostgresTimestamp?.self)
        var sessionIDs: [SessionID] = []
        var last: RevocationPlace?
        for row in rows {
            guard let session = try row.decode(3, as: PostgresUUID?.self) else { continue }
            sessionIDs.append(SessionID(session))
            let revokedAt = try row.decode(4, as: PostgresTimestamp.self)
            last = RevocationPlace(number: UInt64(clamping: revokedAt.microsecondsSince1970), id: try row.decode(2))
        }
        let end = now.microsecondsSince1970
        return RevocationsRead(
            seen: .clock(RevocationClock(sessions: ClockWindow(end: end), changes: ClockWindow(end: end))),
            database: Self.identity,
            epoch: epoch,
            sessionIDs: sessionIDs,
            accountChanges: [],
            last: last
        )
    }

    /// Rows may become visible that are a minute older.
    func place(before horizon: UInt64) -> RevocationPlace {
        let lateness = UInt64(ClockWindow<Int64>.latenessMax)
        return .before(max(horizon, lateness) - lateness)
    }

    /// A time is never used again.
    func certain(of seen: RevocationsSeen) -> RevocationsSeen { seen }

    func notify() async throws(PostgresError) {}
}
