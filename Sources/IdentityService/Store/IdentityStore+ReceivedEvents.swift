import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// Stores events of other services for each target that wants them, and returns the types that any target wants. One round trip.
    ///
    /// A repeated event is stored already, or was delivered and goes to its target again with the same id. Of a closed account no event
    /// is delivered but the closing.
    func accept(_ events: [ReceivedEvent], nowMilliseconds: Int64, deadline: Deadline?) async throws -> [String] {
        let wanted = "SELECT DISTINCT unnest(types) FROM webhook_targets"
        guard !events.isEmpty else {
            return try await database.query("\(unsafeSQL: wanted)", deadline: deadline).map { try $0.decode(0) }
        }
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await database.execute(
            """
            WITH told AS (
                INSERT INTO work (queue, event_id, user_id, created_at, data)
                SELECT 'webhooks.' || target.name, event.event_id, event.user_id, \(now),
                    webhook_event(event.type, event.occurred_at, jsonb_strip_nulls(jsonb_build_object('user_id', event.user_id,
                        'group_id', event.group_id, 'member_id', event.member_id)))
                FROM unnest(\(events.map(\.id.uuid)), \(events.map(\.type.rawValue)), \(events.map(\.userID.uuid)),
                    \(events.map { PostgresTimestamp(milliseconds: $0.occurredAtMilliseconds) }),
                    \(events.map { $0.groupID?.uuid }), \(events.map { $0.memberID?.uuid }))
                    AS event (event_id, type, user_id, occurred_at, group_id, member_id)
                JOIN webhook_targets target ON event.type = ANY (target.types)
                WHERE NOT EXISTS (SELECT FROM account_closings closed WHERE closed.user_id = event.user_id)
                ORDER BY event.event_id, target.name
                ON CONFLICT (queue, event_id) DO NOTHING
            )
            \(unsafeSQL: wanted)
            """,
            deadline: deadline
        ).map { try $0.decode(0) }
    }
}
