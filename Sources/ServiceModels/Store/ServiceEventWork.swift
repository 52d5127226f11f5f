import API
import Models
import Postgres
import RPC
import ServiceKit
import ServiceStore

/// Events about users that are to be delivered to identity, for the targets of webhooks. In no order.
public struct ServiceEventWork: WorkKind {
    /// The queue.
    public static let queue = "events"

    /// The types that targets want, in a table of the schema. An event of another type isn't stored.
    public static let wantedEvents = """
        CREATE TABLE wanted_events (
            type text PRIMARY KEY
        );
        """

    /// The columns of an event's message.
    public static let columns = [
        "w.event_id", "w.data ->> 'type'", "w.user_id", "w.data ->> 'group_id'", "w.data ->> 'member_id'",
        "w.created_at",
    ]

    let call: ServiceEvents.Call

    /// The queue.
    public var queue: String { Self.queue }

    /// A batch goes in one call. What identity doesn't accept is retried alone, more and more seldom, and delays no other.
    public var rules: WorkRules {
        var rules = WorkRules()
        rules.together = 100
        return rules
    }

    /// The message: ids alone.
    public func item(_ row: Row, from first: Int) throws -> IdentityV1.ServiceEvent? {
        var event = IdentityV1.ServiceEvent()
        event.eventID = EventID(try row.decode(first, as: PostgresUUID.self)).description
        event.type = try row.decode(first + 1)
        event.userID = UserID(try row.decode(first + 2, as: PostgresUUID.self)).description
        event.groupID = try row.decode(first + 3, as: String?.self) ?? ""
        event.memberID = try row.decode(first + 4, as: String?.self) ?? ""
        event.occurredAtMilliseconds = try row.decode(first + 5, as: PostgresTimestamp.self).milliseconds
        return event
    }

    /// Delivers the events. None is ever parked.
    public func perform(_ items: [IdentityV1.ServiceEvent], deadline: Deadline) async throws {
        var request = IdentityV1.AcceptEventsRequest()
        request.events = items
        do throws(RPCError) {
            _ = try await call(request, CallOptions(deadline: deadline))
        } catch {
            if let setback = WorkSetback(neverParked: error) { throw setback }
            throw error
        }
    }
}
