import Postgres
import RPC
import ServiceKit

/// An outbox in PostgreSQL: a table of a service's schema, or the part of it that is for one receiver.
public struct TableOutbox<Rows: OutboxRows>: OutboxStore {
    /// How long a batch may take in all. Longer than its delivery may, or a receiver that is merely slow would be told
    /// the same again and again; shorter than the ten seconds after which PostgreSQL ends a transaction that waits.
    private static var batchLimit: Duration { .seconds(9) }

    private let database: PostgresClient
    private let rows: Rows
    private let nowMilliseconds: @Sendable () -> Int64

    /// An outbox, which does nothing yet.
    ///
    /// - Parameter nowMilliseconds: the time, in Unix milliseconds.
    public init(database: PostgresClient, rows: Rows, nowMilliseconds: @escaping @Sendable () -> Int64) {
        self.database = database
        self.rows = rows
        self.nowMilliseconds = nowMilliseconds
    }

    /// Tells up to `limit` of the oldest events and deletes what was told, while no other process does the same.
    public func relayBatch(
        limit: Int,
        deliver: @Sendable ([Rows.Event]) async -> OutboxVerdict
    ) async throws -> OutboxBatch {
        // Mostly nothing waits: then nothing is locked, and nothing written to the log of the database.
        let waiting = try await database.query(
            "SELECT EXISTS (SELECT 1 FROM \(unsafeSQL: Rows.table) o WHERE o.rejected_at IS NULL\(unsafeSQL: isOurs("o")))"
        )
        guard try waiting[0].decode(0, as: Bool.self) else { return .empty }
        return try await database.withTransaction(deadline: .after(Self.batchLimit)) { transaction in
            let lock = try await transaction.query(
                "SELECT 1 FROM \(unsafeSQL: Rows.table)_relay r WHERE true\(unsafeSQL: isOurs("r")) FOR UPDATE SKIP LOCKED"
            )
            guard !lock.isEmpty else { return .busy }
            let now = PostgresTimestamp(milliseconds: nowMilliseconds())
            let entries = try await due(limit, now, in: transaction)
            guard !entries.isEmpty else { return .empty }
            let unreadable = entries.filter { $0.event == nil }.map(\.rowID)
            guard unreadable.isEmpty else {
                try await setAside(unreadable, reason: "UNREADABLE", now, in: transaction)
                return .unreadable(eventCount: unreadable.count)
            }
            let events = entries.compactMap(\.event)
            let verdict = await deliver(events)
            try await perform(verdict, on: entries.map(\.rowID), now, in: transaction)
            if verdict == .delivered { try await rows.delivered(events, in: transaction) }
            return .handled(eventCount: entries.count)
        }
    }

    /// What is told now. A statement of its own, so that its snapshot is younger than the lock: what the relay before this one
    /// deleted is gone.
    private func due(
        _ limit: Int,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws -> ArraySlice<Entry> {
        let columns = Rows.eventColumns.map { "o.\($0)" }.joined(separator: ", ")
        let found = try await transaction.query(
            """
            SELECT o.id, o.failures, o.trace, \(unsafeSQL: columns) FROM \(unsafeSQL: Rows.table) o
            WHERE o.rejected_at IS NULL\(unsafeSQL: isOurs("o"))
                AND (o.retry_at IS NULL OR o.retry_at <= \(now)) AND NOT EXISTS (
                    SELECT 1 FROM \(unsafeSQL: Rows.table) held
                    WHERE held.\(unsafeSQL: Rows.keyColumn) = o.\(unsafeSQL: Rows.keyColumn) AND held.id < o.id
                        AND (held.rejected_at IS NOT NULL OR held.retry_at > \(now))\(unsafeSQL: isOurs("held"))
                )
            ORDER BY o.id LIMIT \(limit)
            """
        )
        return Self.batch(
            try found.map { row in
                let (rowID, failures, trace) = try row.decode(Int64.self, Int32.self, String?.self)
                let event = try rows.event(
                    row,
                    failureCount: Int(failures),
                    trace: trace.flatMap { TraceContext(parent: $0) }
                )
                return Entry(rowID: rowID, event: event)
            }
        )
    }

    /// Which rows of a table by this name are of this outbox, behind another condition.
    private func isOurs(_ table: String) -> String {
        rows.receiver.map { " AND \(table).receiver = '\($0)'" } ?? ""
    }

    private func perform(
        _ verdict: OutboxVerdict,
        on rowIDs: [Int64],
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        switch verdict {
        case .kept: break
        case .delivered: try await transaction.execute("DELETE FROM \(unsafeSQL: Rows.table) WHERE id = ANY(\(rowIDs))")
        case .setAside(let reason): try await setAside(rowIDs, reason: reason, now, in: transaction)
        case .postponed(let wait, let reason):
            let later = PostgresTimestamp(microsecondsSince1970: now.microsecondsSince1970 + wait.wholeMicroseconds)
            try await transaction.execute(
                """
                UPDATE \(unsafeSQL: Rows.table) SET failures = failures + 1, retry_at = \(later), rejection = \(reason)
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
            "UPDATE \(unsafeSQL: Rows.table) SET rejected_at = \(now), rejection = \(reason) WHERE id = ANY(\(rowIDs))"
        )
    }

    /// Where counting what waits stops: past it nobody needs the number, and it would cost.
    private static var countedMax: Int { 10_001 }

    /// What waits, and since when the oldest does; and what is set aside, with what waits behind it.
    public func backlog() async throws -> OutboxBacklog {
        let counted = try await database.query(
            """
            SELECT count(*) FILTER (WHERE NOT is_behind), min(created_at) FILTER (WHERE NOT is_behind),
                count(*) FILTER (WHERE is_behind) + (
                    SELECT count(*) FROM (
                        SELECT 1 FROM \(unsafeSQL: Rows.table) aside
                        WHERE aside.rejected_at IS NOT NULL\(unsafeSQL: isOurs("aside"))
                        LIMIT \(Self.countedMax)
                    ) AS aside
                )
            FROM (
                SELECT created_at, EXISTS (
                    SELECT 1 FROM \(unsafeSQL: Rows.table) held
                    WHERE held.\(unsafeSQL: Rows.keyColumn) = o.\(unsafeSQL: Rows.keyColumn) AND held.id < o.id
                        AND held.rejected_at IS NOT NULL\(unsafeSQL: isOurs("held"))
                ) AS is_behind
                FROM \(unsafeSQL: Rows.table) o WHERE rejected_at IS NULL\(unsafeSQL: isOurs("o"))
                ORDER BY id LIMIT \(Self.countedMax)
            ) AS waiting
            """
        )
        let (count, oldest, aside) = try counted[0].decode(Int64.self, PostgresTimestamp?.self, Int64.self)
        let age = oldest.map { nowMilliseconds() - $0.milliseconds } ?? 0
        return OutboxBacklog(
            eventCount: Int(count),
            oldestAge: .milliseconds(max(0, age)),
            setAsideCount: Int(aside)
        )
    }

    // MARK: - Rows

    /// A row, and its event; nil for a row that holds none.
    private struct Entry {
        let rowID: Int64
        let event: Rows.Event?
    }

    /// What is told at once: an event that failed before alone, and the others up to the first such.
    private static func batch(_ entries: [Entry]) -> ArraySlice<Entry> {
        let hasFailed = { (entry: Entry) in (entry.event?.failureCount ?? 0) > 0 }
        guard let first = entries.first, !hasFailed(first) else { return entries.prefix(1) }
        return entries.prefix { !hasFailed($0) }
    }
}

extension Duration {
    /// Whole microseconds.
    fileprivate var wholeMicroseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
