import Postgres
import ServiceKit

/// Events for webhooks in the database of a service, beside the work that delivers them.
struct ServiceEventStore: Sendable {
    /// How long an event is kept that identity doesn't accept: as long as identity keeps one that a target doesn't.
    static let keptMilliseconds: Int64 = 33 * 86_400_000

    let database: PostgresClient

    /// Stores which types are wanted. Without a change nothing is written.
    func want(_ types: [ServiceEventType]) async throws {
        let names = types.map(\.rawValue)
        try await database.execute(
            """
            WITH unwanted AS (DELETE FROM wanted_events WHERE type <> ALL(\(names)))
            INSERT INTO wanted_events (type) SELECT type FROM unnest(\(names)) AS wanted (type)
            ON CONFLICT (type) DO NOTHING
            """
        )
    }

    /// Deletes events that identity never accepted, at most `limit`, and returns how many.
    func forget(nowMilliseconds: Int64, limit: Int) async throws -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.keptMilliseconds)
        return try await database.execute(
            """
            DELETE FROM work WHERE id IN (
                SELECT id FROM work WHERE queue = \(ServiceEventWork.queue) AND parked_at IS NULL AND created_at <= \(before)
                ORDER BY created_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
    }
}
