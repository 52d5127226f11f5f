import Postgres
import RPC

/// A kind of work that is done later: what the rows of its queue in the table ``WorkTable`` mean, and how they are done.
///
/// Work is done at least once: a process may die after a call and before the row is deleted. Receivers apply an item once by its event
/// id, and steps in the database are safe to repeat.
public protocol WorkKind: Sendable {
    /// One item, as it is done.
    associatedtype Item: Sendable

    /// The queue: the kind's name, with a dot and a receiver where a kind has several queues. A word of ours.
    var queue: String { get }
    /// How the queue is worked on.
    var rules: WorkRules { get }
    /// The expressions of SQL, about the row `w`, that ``item(_:from:)`` reads.
    static var columns: [String] { get }
    /// A condition of SQL, about the row `w`, without which an item isn't begun.
    var condition: String? { get }

    /// The item of a row whose columns are ``columns`` from `first` on. Nil or an error for a row that holds none, which is parked.
    func item(_ row: Row, from first: Int) throws -> Item?

    /// Does the work: all items or, if it throws, perhaps some, which are done again.
    ///
    /// - Parameter deadline: when the work must be over. Behind it another process may take the items.
    /// - Throws: `WorkRejection` if it will never succeed, `WorkSetback` if it failed because of the items; any other error if nothing of
    ///   the queue can be done now.
    func perform(_ items: [Item], deadline: Deadline) async throws

    /// Deletes the rows of work that is done, and records what follows from it in the same transaction.
    func finish(_ items: [Item], ids: [Int64], in database: PostgresClient) async throws
}

extension WorkKind {
    /// No condition.
    public var condition: String? { nil }

    /// Deletes the rows; nothing else follows.
    public func finish(_ items: [Item], ids: [Int64], in database: PostgresClient) async throws {
        try await database.execute("DELETE FROM work WHERE id = ANY(\(ids))")
    }
}

/// How a queue is worked on.
public struct WorkRules: Sendable {
    /// Whether items of one key are done in their order. A failed or parked item then holds up the later ones of its key.
    public var isOrdered = false
    /// The maximum of items that are handed to one call.
    public var together = 1
    /// The maximum of calls that this process makes at once; 1 for an ordered queue.
    public var atOnce = 1
    /// How long one call may take.
    public var timeout: Duration = .seconds(5)
    /// How often to look for work without being nudged.
    public var pollInterval: Duration = .seconds(1)
    /// The wait of an item that failed.
    public var retry = Backoff(first: .seconds(1), max: .seconds(3600))
    /// How often an item that may be at fault is tried before it is parked; nil for no limit.
    public var triesMax: Int?
    /// How long an item that may be at fault is tried before it is parked; nil for no limit. The last try is when the time is over.
    public var triedFor: Duration?
    /// The wait while nothing of the queue can be done.
    public var outage = Backoff(first: .milliseconds(100), max: .seconds(30))
    /// A call that is done within this may be followed by one with more items.
    public var quickCall: Duration = .seconds(1)

    /// How much longer than a call its items are leased: for the statement that deletes them, and for clocks that differ.
    public static let leaseMargin: Duration = .seconds(10)

    /// The defaults.
    public init() {}
}
