import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// Changes of phone numbers that were not delivered to invites yet.
typealias PhoneOutbox = TableOutbox<PhoneOutboxRows>

extension PhoneOutbox {
    /// The outbox of a database.
    init(database: PostgresClient, clock: WallClock) {
        self.init(database: database, rows: PhoneOutboxRows(), nowMilliseconds: { clock.nowMilliseconds })
    }
}

/// The rows of the outbox: a number's events stay in order.
struct PhoneOutboxRows: OutboxRows {
    /// One event that waits to be delivered.
    struct Event: OutboxEvent, Hashable {
        /// The id by which the receiver applies it only once.
        let id: EventID
        /// The user whose number it is about.
        let userID: UserID
        /// The change.
        let event: PhoneEvent
        /// Whether the user's closed account is the reason.
        var isByDeletion = false
        /// How often the receiver failed on this event alone.
        var failureCount = 0
        /// The span of the write that made it.
        var trace: TraceContext?
    }

    static let keyColumn = "phone"
    static let eventColumns = ["event_id", "kind", "phone", "user_id", "by_deletion", "is_proven", "taken_from"]
    static let about = "o.kind || ' …' || right(o.phone, 3) || ' by ' || o.user_id::text"
    static let aboutInFull = "o.kind || ' +' || o.phone || ' by ' || o.user_id::text"

    func event(_ row: Row, failureCount: Int, trace: TraceContext?) throws -> Event? {
        let first = Self.firstColumn
        guard let kind = PhoneEvent.Kind(rawValue: try row.decode(first + 1, as: String.self)),
            let phone = PhoneNumber(stored: try row.decode(first + 2, as: String.self))
        else { return nil }
        return Event(
            id: EventID(try row.decode(first, as: PostgresUUID.self)),
            userID: UserID(try row.decode(first + 3, as: PostgresUUID.self)),
            event: PhoneEvent(
                kind: kind,
                phone: phone,
                isProven: try row.decode(first + 5),
                takenFrom: try row.decode(first + 6, as: PostgresUUID?.self).map { UserID($0) }
            ),
            isByDeletion: try row.decode(first + 4),
            failureCount: failureCount,
            trace: trace
        )
    }
}
