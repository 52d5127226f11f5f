import Postgres
import RPC
import ServiceKit

/// What the rows of an outbox table are about, beside the columns that each such table has: `id` (bigint, in the order of
/// commits for each key), `event_id`, `trace` (the span of the write, as `traceparent`; null where traces are off), `created_at`, `failures`, `retry_at`, `rejected_at` and `rejection`; and the row of a table beside it,
/// such as `outbox_relay`, whose lock makes one relay of many the one that works. (A row, since an advisory lock could be taken
/// by every role of the database.)
public protocol OutboxRows: Sendable {
    /// One event, as its receiver needs it.
    associatedtype Event: OutboxEvent

    /// The table; the one beside it has its name and `_relay`. A word of ours, without quotes.
    static var table: String { get }
    /// The column of the key: events of one value of it stay in order.
    static var keyColumn: String { get }
    /// The columns that ``event(_:failureCount:trace:)`` reads.
    static var eventColumns: [String] { get }
    /// What a row of the table `o` is about, for people, as an expression of SQL; with ids, and nothing else of a person.
    static var about: String { get }
    /// The same with what is a person's.
    static var aboutInFull: String { get }
    /// What `receiver` is in the rows of this outbox, in both tables; nil where there is no such column,
    /// since all rows have one receiver. A word of ours, without quotes.
    var receiver: String? { get }

    /// The event of a row whose columns are ``eventColumns`` from ``firstColumn`` on; nil if it holds none: such can only
    /// come from other hands than ours.
    func event(_ row: Row, failureCount: Int, trace: TraceContext?) throws -> Event?

    /// Writes down what follows from a delivery, in the transaction that forgets the events.
    func delivered(_ events: [Event], in transaction: PostgresTransaction) async throws
}

extension OutboxRows {
    /// `outbox`.
    public static var table: String { "outbox" }

    /// Nothing more.
    public static var aboutInFull: String { about }

    /// Where the columns of the event begin.
    public static var firstColumn: Int { 3 }

    /// One receiver for all.
    public var receiver: String? { nil }

    /// Nothing follows.
    public func delivered(_ events: [Event], in transaction: PostgresTransaction) async throws {}
}
