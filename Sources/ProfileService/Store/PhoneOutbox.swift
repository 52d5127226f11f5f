import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels

/// The outbox in PostgreSQL: what became of phone numbers and wasn't told yet.
struct PhoneOutbox: OutboxStore {
    /// One event that waits to be told.
    struct Event: OutboxEvent, Hashable {
        /// By which the receiver applies it once.
        let id: EventID
        /// Whose number it is about.
        let userID: UserID
        /// What became of it.
        let event: PhoneEvent
        /// How often the receiver failed on it alone.
        var failureCount = 0
    }

    /// How long a batch may take in all. Longer than its delivery may, or a receiver that is merely slow would be told
    /// the same again and again; shorter than the ten seconds after which PostgreSQL ends a transaction that waits.
    private static let batchLimit = Duration.seconds(9)

    let database: PostgresClient
    let clock: WallClock

    /// Tells up to `limit` of the oldest events and deletes what was told, while no other process does the same.
    func relayBatch(
        limit: Int,
        deliver: @Sendable ([Event]) async -> OutboxVerdict
    ) async throws -> OutboxBatch {
        // Mostly nothing waits: then nothing is locked, and nothing written to the log of the database.
        let waiting = try await database.query("SELECT EXISTS (SELECT 1 FROM outbox WHERE rejected_at IS NULL)")
        guard try waiting[0].decode(0, as: Bool.self) else { return .empty }
        return try await database.withTransaction(deadline: .after(Self.batchLimit)) { transaction in
            let lock = try await transaction.query("SELECT 1 FROM outbox_relay FOR UPDATE SKIP LOCKED")
            guard !lock.isEmpty else { return .busy }
            // A statement of its own, so that its snapshot is younger than the lock: what the relay before this one
            // deleted is gone.
            let now = PostgresTimestamp(milliseconds: clock.nowMilliseconds)
            let rows = try await transaction.query(
                """
                SELECT o.id, o.event_id, o.kind, o.phone, o.user_id, o.failures FROM outbox o
                WHERE o.rejected_at IS NULL AND (o.retry_at IS NULL OR o.retry_at <= \(now)) AND NOT EXISTS (
                    SELECT 1 FROM outbox held
                    WHERE held.phone = o.phone AND held.id < o.id
                        AND (held.rejected_at IS NOT NULL OR held.retry_at > \(now))
                )
                ORDER BY o.id LIMIT \(limit)
                """
            )
            guard !rows.isEmpty else { return .empty }
            let entries = Self.batch(try rows.map(Self.read))
            let unreadable = entries.filter { $0.event == nil }.map(\.rowID)
            guard unreadable.isEmpty else {
                try await setAside(unreadable, reason: "UNREADABLE", now, in: transaction)
                return .unreadable(eventCount: unreadable.count)
            }
            let verdict = await deliver(entries.compactMap(\.event))
            try await perform(verdict, on: entries.map(\.rowID), now, in: transaction)
            return .handled(eventCount: entries.count)
        }
    }

    private func perform(
        _ verdict: OutboxVerdict,
        on rowIDs: [Int64],
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        switch verdict {
        case .kept: break
        case .delivered: try await transaction.execute("DELETE FROM outbox WHERE id = ANY(\(rowIDs))")
        case .setAside(let reason): try await setAside(rowIDs, reason: reason, now, in: transaction)
        case .postponed(let wait, let reason):
            let later = PostgresTimestamp(microsecondsSince1970: now.microsecondsSince1970 + wait.wholeMicroseconds)
            try await transaction.execute(
                """
                UPDATE outbox SET failures = failures + 1, retry_at = \(later), rejection = \(reason)
                WHERE id = ANY(\(rowIDs))
                """
            )
        }
    }

    /// Keeps events that will not be told, where the relay doesn't see them.
    private func setAside(
        _ rowIDs: [Int64],
        reason: String,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            "UPDATE outbox SET rejected_at = \(now), rejection = \(reason) WHERE id = ANY(\(rowIDs))"
        )
    }

    /// Where counting what waits stops: past it nobody needs the number, and it would cost.
    private static let countedMax = 10_001

    /// What waits, and since when the oldest does; and what is set aside, with what waits behind it.
    func backlog() async throws -> OutboxBacklog {
        let rows = try await database.query(
            """
            SELECT count(*) FILTER (WHERE NOT is_behind), min(created_at) FILTER (WHERE NOT is_behind),
                count(*) FILTER (WHERE is_behind) + (
                    SELECT count(*) FROM (
                        SELECT 1 FROM outbox WHERE rejected_at IS NOT NULL LIMIT \(Self.countedMax)
                    ) AS aside
                )
            FROM (
                SELECT created_at, EXISTS (
                    SELECT 1 FROM outbox held
                    WHERE held.phone = o.phone AND held.id < o.id AND held.rejected_at IS NOT NULL
                ) AS is_behind
                FROM outbox o WHERE rejected_at IS NULL ORDER BY id LIMIT \(Self.countedMax)
            ) AS waiting
            """
        )
        let (count, oldest, aside) = try rows[0].decode(Int64.self, PostgresTimestamp?.self, Int64.self)
        let age = oldest.map { clock.nowMilliseconds - $0.milliseconds } ?? 0
        return OutboxBacklog(
            eventCount: Int(count),
            oldestAge: .milliseconds(max(0, age)),
            setAsideCount: Int(aside)
        )
    }

    // MARK: - Rows

    /// A row, and its event; nil for a row that holds none: such can only come from other hands than ours.
    private struct Entry {
        let rowID: Int64
        let event: Event?
    }

    /// What is told at once: an event that failed before alone, and the others up to the first such.
    private static func batch(_ entries: [Entry]) -> ArraySlice<Entry> {
        let hasFailed = { (entry: Entry) in (entry.event?.failureCount ?? 0) > 0 }
        guard let first = entries.first, !hasFailed(first) else { return entries.prefix(1) }
        return entries.prefix { !hasFailed($0) }
    }

    private static func read(_ row: Row) throws -> Entry {
        let (rowID, eventID, kindName, digits, userID, failures) = try row.decode(
            Int64.self,
            PostgresUUID.self,
            String.self,
            String.self,
            PostgresUUID.self,
            Int32.self
        )
        guard let kind = PhoneEvent.Kind(rawValue: kindName), let phone = PhoneNumber(stored: digits) else {
            return Entry(rowID: rowID, event: nil)
        }
        let event = Event(
            id: EventID(eventID),
            userID: UserID(userID),
            event: PhoneEvent(kind: kind, phone: phone),
            failureCount: Int(failures)
        )
        return Entry(rowID: rowID, event: event)
    }
}

extension Duration {
    /// Whole microseconds.
    fileprivate var wholeMicroseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
