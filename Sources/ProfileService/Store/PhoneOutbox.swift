import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit

/// The outbox in PostgreSQL: what became of phone numbers and wasn't told yet.
struct PhoneOutbox: OutboxStore {
    /// One event that waits to be told.
    struct Event: Sendable, Hashable {
        /// By which the receiver applies it once.
        let id: EventID
        /// Whose number it is about.
        let userID: UserID
        /// What became of it.
        let event: PhoneEvent
    }

    /// The advisory lock that one relay holds at a time, among all replicas; the number means nothing else.
    private static let lockKey: Int64 = 0x7665_7374_6F62_0001

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
        try await database.withTransaction(deadline: .after(Self.batchLimit)) { transaction in
            let lock = try await transaction.query("SELECT pg_try_advisory_xact_lock(\(Self.lockKey))")
            guard try lock[0].decode(0, as: Bool.self) else { return .busy }
            // A statement of its own, so that its snapshot is younger than the lock: what the relay before this one
            // deleted is gone.
            let rows = try await transaction.query(
                """
                SELECT id, event_id, kind, phone, user_id FROM outbox
                WHERE rejected_at IS NULL ORDER BY id LIMIT \(limit)
                """
            )
            guard !rows.isEmpty else { return .empty }
            let (rowIDs, events, unreadable) = try Self.read(rows)
            guard unreadable.isEmpty else {
                try await setAside(unreadable, reason: "UNREADABLE", in: transaction)
                return .handled(read: rows.count, delivered: rows.count)
            }

            let verdict = await deliver(events)
            let handled = rowIDs.prefix(verdict.handledCount).enumerated()
            let delivered = handled.filter { verdict.rejected[$0.offset] == nil }.map(\.element)
            if !delivered.isEmpty {
                try await transaction.execute("DELETE FROM outbox WHERE id = ANY(\(delivered))")
            }
            for (index, reason) in verdict.rejected where index < verdict.handledCount {
                try await setAside([rowIDs[index]], reason: reason, in: transaction)
            }
            return .handled(read: rows.count, delivered: verdict.handledCount)
        }
    }

    /// Where counting what waits stops: past it nobody needs the number, and it would cost.
    private static let countedMax = 10_001

    /// What waits, and since when the oldest does.
    func backlog() async throws -> OutboxBacklog {
        let rows = try await database.query(
            """
            SELECT count(*), min(created_at) FROM (
                SELECT created_at FROM outbox WHERE rejected_at IS NULL ORDER BY id LIMIT \(Self.countedMax)
            ) AS waiting
            """
        )
        let (count, oldest) = try rows[0].decode(Int64.self, PostgresTimestamp?.self)
        let age = oldest.map { clock.nowMilliseconds - $0.microsecondsSince1970 / 1000 } ?? 0
        return OutboxBacklog(eventCount: Int(count), oldestAge: .milliseconds(max(0, age)))
    }

    /// Keeps events that will never be taken, where the relay doesn't see them.
    private func setAside(
        _ rowIDs: [Int64],
        reason: String,
        in transaction: PostgresTransaction
    ) async throws {
        let now = PostgresTimestamp(milliseconds: clock.nowMilliseconds)
        try await transaction.execute(
            "UPDATE outbox SET rejected_at = \(now), rejection = \(reason) WHERE id = ANY(\(rowIDs))"
        )
    }

    /// The events of rows, and the ids of rows that hold none: those can only come from other hands than ours.
    private static func read(_ rows: Rows) throws -> (rowIDs: [Int64], events: [Event], unreadable: [Int64]) {
        var rowIDs: [Int64] = []
        var events: [Event] = []
        var unreadable: [Int64] = []
        for row in rows {
            let (rowID, eventID, kindName, digits, userID) = try row.decode(
                Int64.self,
                PostgresUUID.self,
                String.self,
                String.self,
                PostgresUUID.self
            )
            guard let kind = PhoneEvent.Kind(rawValue: kindName), let phone = PhoneNumber(stored: digits) else {
                unreadable.append(rowID)
                continue
            }
            rowIDs.append(rowID)
            events.append(
                Event(id: EventID(eventID), userID: UserID(userID), event: PhoneEvent(kind: kind, phone: phone))
            )
        }
        return (rowIDs, events, unreadable)
    }
}
