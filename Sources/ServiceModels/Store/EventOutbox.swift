import Models
import Postgres
import RPC
import ServiceKit
import ServiceStore

/// What happened to people and identity wasn't told yet.
public typealias EventOutbox = TableOutbox<EventRows>

/// The rows of the outbox `event_outbox`. Their order isn't promised: none waits for another one.
public struct EventRows: OutboxRows {
    /// One event that waits to be told: ids alone.
    public struct Event: OutboxEvent, Hashable {
        /// The same whenever it is told.
        public let id: EventID
        /// What happened.
        public let type: String
        /// To whom.
        public let userID: UserID
        /// The group, where it is about one.
        public let groupID: GroupID?
        /// The membership in it.
        public let memberID: MemberID?
        /// When it happened, in Unix milliseconds.
        public let occurredAtMilliseconds: Int64
        /// How often the receiver failed on it alone.
        public let failureCount: Int
        /// The span of the write that told of it.
        public let trace: TraceContext?
    }

    /// The tables of a schema that tells events: the outbox with the row by which one relay of many works, and the types that
    /// targets want to be told of. What nobody wants is not written down.
    public static let tables = """
        CREATE TABLE event_outbox (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            event_id uuid NOT NULL,
            type text NOT NULL,
            user_id uuid NOT NULL,
            group_id uuid,
            member_id uuid,
            created_at timestamptz NOT NULL,
            trace text,
            failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
            retry_at timestamptz,
            rejected_at timestamptz,
            rejection text
        );

        CREATE INDEX event_outbox_waiting ON event_outbox (id) WHERE rejected_at IS NULL;
        CREATE INDEX event_outbox_held ON event_outbox (event_id, id) WHERE rejected_at IS NOT NULL OR retry_at IS NOT NULL;
        CREATE INDEX event_outbox_user ON event_outbox (user_id);

        CREATE TABLE event_outbox_relay (
            singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton)
        );
        INSERT INTO event_outbox_relay DEFAULT VALUES;

        CREATE TABLE wanted_events (
            type text PRIMARY KEY
        );
        """

    /// The rows; there is nothing to say of them.
    public init() {}

    /// The table that ``tables`` makes.
    public static let table = "event_outbox"
    /// Each event is its own.
    public static let keyColumn = "event_id"
    /// What an event is made of.
    public static let eventColumns = ["event_id", "type", "user_id", "group_id", "member_id", "created_at"]
    /// The type, and to whom it happened.
    public static let about = "o.type || ' of ' || o.user_id::text"

    /// The event of a row; each row holds one.
    public func event(_ row: Row, failureCount: Int, trace: TraceContext?) throws -> Event? {
        let first = Self.firstColumn
        return Event(
            id: EventID(try row.decode(first, as: PostgresUUID.self)),
            type: try row.decode(first + 1),
            userID: UserID(try row.decode(first + 2, as: PostgresUUID.self)),
            groupID: try row.decode(first + 3, as: PostgresUUID?.self).map { GroupID($0) },
            memberID: try row.decode(first + 4, as: PostgresUUID?.self).map { MemberID($0) },
            occurredAtMilliseconds: try row.decode(first + 5, as: PostgresTimestamp.self).milliseconds,
            failureCount: failureCount,
            trace: trace
        )
    }
}

/// What beside the outbox there is of events, in PostgreSQL.
struct EventStore: Sendable {
    /// For how long an event is kept that identity doesn't take: as long as identity keeps one that a target doesn't.
    static let keptMilliseconds: Int64 = 33 * 86_400_000

    let database: PostgresClient

    /// Writes down which types are wanted: from now on those alone are written down. Without a change nothing is written.
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

    /// Forgets what was never taken, at most `limit` of it, and tells how much.
    func forget(nowMilliseconds: Int64, limit: Int) async throws -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.keptMilliseconds)
        // Ids rise with the times, or nearly so.
        return try await database.execute(
            """
            DELETE FROM event_outbox WHERE id IN (
                SELECT id FROM event_outbox WHERE created_at <= \(before) ORDER BY id LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
    }
}
