import Postgres
import RPC
import ServiceKit

/// The table `work` of a service: all that the service does later, and retries until it is done.
///
/// A statement that changes data adds a row in the same transaction. A ``WorkRunner`` claims due rows for longer than their call may
/// take, calls without a transaction, and deletes the rows. A row whose process died is due again when its lease is over.
public struct WorkTable: Sendable {
    /// The tables. A row is due when `due_at` has passed: the beginning of time for a new one, the end of the lease while it is worked
    /// on, the next try after a failure. `key` is set in ordered queues only, whose rows need ids that rise in the order of commits for
    /// each key.
    public static let sql = """
        -- What is done later. queue: the kind of work. key: rows of one key are done in order; null where order doesn't matter. event_id: by
        -- it a receiver applies the work once. due_at: when it is tried next; while it is worked on, the end of the lease. tries: counted
        -- tries, including a running one, since created_at or retried_at. parked_at: not tried again until an operator says so.
        CREATE TABLE work (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            queue text COLLATE "C" NOT NULL,
            key text,
            event_id uuid NOT NULL,
            user_id uuid,
            data jsonb NOT NULL DEFAULT '{}',
            created_at timestamptz NOT NULL,
            due_at timestamptz NOT NULL DEFAULT '-infinity',
            retried_at timestamptz,
            tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
            failure text,
            parked_at timestamptz,
            trace text,
            UNIQUE (queue, event_id)
        );
        CREATE INDEX work_due ON work (queue, due_at, id) WHERE parked_at IS NULL;
        CREATE INDEX work_oldest ON work (queue, created_at) WHERE parked_at IS NULL;
        CREATE INDEX work_key ON work (queue, key, id) WHERE key IS NOT NULL;
        CREATE INDEX work_user ON work (user_id) WHERE user_id IS NOT NULL;
        CREATE INDEX work_parked ON work (queue, parked_at) WHERE parked_at IS NOT NULL;

        -- Queues whose order matters: the process that claimed rows has the queue for itself until leased_until.
        CREATE TABLE ordered_queues (
            queue text PRIMARY KEY,
            leased_until timestamptz NOT NULL DEFAULT '-infinity'
        );
        """

    /// How long a statement about work may take.
    private static let statementLimit: Duration = .seconds(10)
    /// Where counting stops: beyond it the exact number is useless, and costs.
    private static let countedMax = 10_001

    let database: PostgresClient
    let nowMilliseconds: @Sendable () -> Int64

    /// The table of a database.
    ///
    /// - Parameter nowMilliseconds: the time, in Unix milliseconds.
    public init(_ database: PostgresClient, nowMilliseconds: @escaping @Sendable () -> Int64) {
        self.database = database
        self.nowMilliseconds = nowMilliseconds
    }

    /// Rows that were claimed together.
    struct Claim<Item: Sendable>: Sendable {
        /// A row.
        struct Entry: Sendable {
            let id: Int64
            let tries: Int
            /// Since when it is tried, in Unix milliseconds.
            let triedFrom: Int64
            let trace: TraceContext?
            let item: Item
        }

        /// The end of the lease, by which the claim is recognized.
        let leasedUntil: PostgresTimestamp
        var entries: [Entry] = []
        /// Rows that hold no item.
        var unreadable: [Int64] = []

        var isEmpty: Bool { entries.isEmpty && unreadable.isEmpty }
    }

    /// Claims due rows of a queue, at most `limit`. Empty also while another process has an ordered queue; of one that isn't empty, end
    /// the turn with ``endTurn(in:leasedUntil:)``.
    func claim<Kind: WorkKind>(_ kind: Kind, _ rules: WorkRules, limit: Int) async throws -> Claim<Kind.Item> {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds())
        let lease = rules.timeout + WorkRules.leaseMargin
        var claim = Claim<Kind.Item>(leasedUntil: now.advanced(by: lease))
        let deadline = Deadline.after(Self.statementLimit)
        let statement = Self.claiming(kind, rules, limit, now, claim.leasedUntil)
        let rows: [Row]
        if rules.isOrdered {
            // Usually nothing is due: then nothing is locked.
            let due = try await database.query(
                "SELECT EXISTS (SELECT FROM work WHERE queue = \(kind.queue) AND parked_at IS NULL AND due_at <= \(now))",
                deadline: deadline
            )
            guard try due[0].decode(0, as: Bool.self) else { return claim }
            let leasedUntil = claim.leasedUntil
            rows = try await database.withTransaction(deadline: deadline) { transaction in
                let turn = try await transaction.execute(
                    """
                    UPDATE ordered_queues SET leased_until = \(leasedUntil)
                    WHERE queue = (SELECT queue FROM ordered_queues WHERE queue = \(kind.queue) AND leased_until <= \(now)
                        FOR UPDATE SKIP LOCKED)
                    """
                )
                guard turn.affected == 1 else { return [] }
                // A statement of its own, so that its snapshot has what the process before this one changed.
                let rows = Array(try await transaction.execute(statement))
                if rows.isEmpty { try await transaction.execute(Self.endOfTurn(kind.queue, leasedUntil)) }
                return rows
            }
        } else {
            rows = Array(try await database.execute(statement, deadline: deadline))
        }
        for row in rows {
            let (id, tries, triedFrom, trace) = try row.decode(
                Int64.self,
                Int32.self,
                PostgresTimestamp.self,
                String?.self
            )
            guard let item = try? kind.item(row, from: Self.ownColumns) else {
                claim.unreadable.append(id)
                continue
            }
            claim.entries.append(
                .init(
                    id: id,
                    tries: Int(tries),
                    triedFrom: triedFrom.milliseconds,
                    trace: trace.flatMap { TraceContext(parent: $0) },
                    item: item
                )
            )
        }
        claim.entries.sort { $0.id < $1.id }
        return claim
    }

    private static let ownColumns = 4

    private static func claiming<Kind: WorkKind>(
        _ kind: Kind,
        _ rules: WorkRules,
        _ limit: Int,
        _ now: PostgresTimestamp,
        _ leasedUntil: PostgresTimestamp
    ) -> Query {
        let columns = Kind.columns.map { ", \($0)" }.joined()
        let condition = kind.condition.map { " AND \($0)" } ?? ""
        // A row that is leased, waits or is parked holds up the later rows of its key. New rows come first, in the order of their ids, so a
        // claim with one of them has all new rows before it.
        let order =
            rules.isOrdered
            ? """
             AND NOT EXISTS (SELECT FROM work earlier
                WHERE earlier.queue = w.queue AND earlier.key = w.key AND earlier.id < w.id
                    AND (earlier.due_at > '-infinity' OR earlier.parked_at IS NOT NULL))
            """ : ""
        return """
            WITH due AS MATERIALIZED (
                SELECT id FROM work w
                WHERE queue = \(kind.queue) AND parked_at IS NULL AND due_at <= \(now)\(unsafeSQL: condition)\(unsafeSQL: order)
                ORDER BY due_at, id LIMIT \(limit) FOR UPDATE SKIP LOCKED
            )
            UPDATE work w SET tries = tries + 1, due_at = \(leasedUntil) FROM due WHERE w.id = due.id
            RETURNING w.id, w.tries, COALESCE(w.retried_at, w.created_at), w.trace\(unsafeSQL: columns)
            """
    }

    private static func endOfTurn(_ queue: String, _ leasedUntil: PostgresTimestamp) -> Query {
        "UPDATE ordered_queues SET leased_until = '-infinity' WHERE queue = \(queue) AND leased_until = \(leasedUntil)"
    }

    /// Lets other processes claim rows of an ordered queue.
    func endTurn(in queue: String, leasedUntil: PostgresTimestamp) async throws {
        try await database.execute(Self.endOfTurn(queue, leasedUntil), deadline: .after(Self.statementLimit))
    }

    /// Returns claimed rows to their queue, as if they hadn't been claimed.
    func release(_ ids: [Int64], leasedUntil: PostgresTimestamp) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds())
        try await database.execute(
            """
            UPDATE work SET tries = tries - 1, due_at = CASE WHEN tries > 1 THEN \(now) ELSE '-infinity' END
            WHERE id = ANY(\(ids)) AND due_at = \(leasedUntil)
            """,
            deadline: .after(Self.statementLimit)
        )
    }

    /// Postpones a claimed row that failed. Does nothing if another process has it since.
    func postpone(_ id: Int64, by wait: Duration, reason: String, leasedUntil: PostgresTimestamp) async throws {
        let next = PostgresTimestamp(milliseconds: nowMilliseconds()).advanced(by: wait)
        try await database.execute(
            "UPDATE work SET due_at = \(next), failure = \(reason) WHERE id = \(id) AND due_at = \(leasedUntil)",
            deadline: .after(Self.statementLimit)
        )
    }

    /// Parks claimed rows. Does nothing if another process has them since.
    func park(_ ids: [Int64], reason: String, leasedUntil: PostgresTimestamp) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds())
        try await database.execute(
            "UPDATE work SET parked_at = \(now), failure = \(reason) WHERE id = ANY(\(ids)) AND due_at = \(leasedUntil)",
            deadline: .after(Self.statementLimit)
        )
    }

    /// What waits in a queue.
    public func backlog(of queue: String) async throws -> WorkBacklog {
        let counted = try await database.query(
            """
            SELECT count(*) FILTER (WHERE NOT is_behind), count(*) FILTER (WHERE is_behind) + (
                    SELECT count(*) FROM (
                        SELECT FROM work WHERE queue = \(queue) AND parked_at IS NOT NULL LIMIT \(Self.countedMax)) parked),
                (SELECT created_at FROM work w WHERE queue = \(queue) AND parked_at IS NULL
                    AND NOT EXISTS (SELECT FROM work held WHERE held.queue = w.queue AND held.key = w.key AND held.id < w.id
                        AND held.parked_at IS NOT NULL) ORDER BY created_at LIMIT 1)
            FROM (
                SELECT EXISTS (SELECT FROM work held WHERE held.queue = w.queue AND held.key = w.key AND held.id < w.id
                    AND held.parked_at IS NOT NULL) AS is_behind
                FROM work w WHERE queue = \(queue) AND parked_at IS NULL ORDER BY due_at, id LIMIT \(Self.countedMax)
            ) AS waiting
            """,
            deadline: .after(Self.statementLimit)
        )
        let (waiting, parked, oldest) = try counted[0].decode(Int64.self, Int64.self, PostgresTimestamp?.self)
        let age = oldest.map { nowMilliseconds() - $0.milliseconds } ?? 0
        return WorkBacklog(
            waitingCount: Int(waiting),
            oldestAge: .milliseconds(max(0, age)),
            parkedCount: Int(parked)
        )
    }
}

/// What waits in a queue.
public struct WorkBacklog: Sendable, Hashable {
    /// Items that wait or are worked on; counting stops past ten thousand.
    public var waitingCount: Int
    /// How long the oldest of them has waited; zero without any.
    public var oldestAge: Duration
    /// Parked items, and those that wait behind one; counting stops past ten thousand.
    public var parkedCount: Int

    /// A backlog.
    public init(waitingCount: Int = 0, oldestAge: Duration = .zero, parkedCount: Int = 0) {
        self.waitingCount = waitingCount
        self.oldestAge = oldestAge
        self.parkedCount = parkedCount
    }
}

extension PostgresTimestamp {
    /// The time after a duration, in whole microseconds.
    func advanced(by duration: Duration) -> PostgresTimestamp {
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return PostgresTimestamp(microsecondsSince1970: microsecondsSince1970 + microseconds)
    }
}
