import Postgres
import RPC
import ServiceKit

/// An operator's commands about the held work of a service: what is parked, and what waits for its next try.
public struct WorkAdmin: Sendable {
    /// What precedes a change of held rows: called with their ids, while they still hold up the later ones of their keys.
    public typealias Preparation = @Sendable ([Int64]) async throws -> Void

    /// How many rows one transaction changes.
    private static let batchMax = 500
    private static let limit: Duration = .seconds(25)

    private let database: PostgresClient
    private let nowMilliseconds: @Sendable () -> Int64
    private let preparations: [String: Preparation]
    private let retried: @Sendable (Set<String>) async throws -> Void

    /// The administration of a database.
    ///
    /// - Parameters:
    ///   - nowMilliseconds: the time, in Unix milliseconds.
    ///   - preparations: what precedes a retry or the deletion of rows, by queue. It may add rows in transactions of its own, which stay
    ///     also if the change fails.
    ///   - retried: called with the queues of which something is retried.
    public init(
        _ database: PostgresClient,
        nowMilliseconds: @escaping @Sendable () -> Int64,
        preparations: [String: Preparation] = [:],
        retried: @escaping @Sendable (Set<String>) async throws -> Void = { _ in }
    ) {
        self.database = database
        self.nowMilliseconds = nowMilliseconds
        self.preparations = preparations
        self.retried = retried
    }

    /// Runs a command.
    ///
    /// - Returns: lines for people.
    /// - Throws: `WorkCommandError` if a name is that of no held work; the others were dealt with.
    public func run(_ command: WorkCommand) async throws -> [String] {
        let now = nowMilliseconds()
        switch command {
        case .list(let queue, let includesWaiting, let limit, let showsNumbers):
            let which = HeldWork.Selection(queue: queue, includesWaiting: includesWaiting)
            let held = try await held(which, limit: limit, showsNumbers)
            return held.isEmpty ? ["nothing is held"] : held.map { $0.line(nowMilliseconds: now) }
        case .show(let name, let showsNumbers):
            let which = HeldWork.Selection(names: [name], includesWaiting: true)
            let held = try await held(which, limit: Self.batchMax, showsNumbers)
            if held.isEmpty { throw WorkCommandError("no work \(name) waits or is parked") }
            return held.flatMap { $0.lines(nowMilliseconds: now) }
        case .retry(.all): return ["\(try await retry(HeldWork.Selection()).count) will be retried"]
        case .retry(.queue(let queue)):
            return ["\(try await retry(HeldWork.Selection(queue: queue)).count) will be retried"]
        case .retry(.names(let names)):
            let changed = try await retry(HeldWork.Selection(names: names))
            return try Self.answer(names, changed, "held", "will be retried")
        case .discard(let names):
            let changed = try await discard(HeldWork.Selection(names: names, isParkedOnly: true))
            return try Self.answer(names, changed, "parked", "discarded")
        }
    }

    /// The rows that were changed, by their names.
    private typealias Changed = [(id: Int64, eventID: String)]

    private static func answer(
        _ names: [WorkName],
        _ changed: Changed,
        _ state: String,
        _ done: String
    ) throws(WorkCommandError) -> [String] {
        let found = Set(changed.flatMap { [WorkName.number($0.id), .event($0.eventID)] })
        let missing = Set(names).subtracting(found).map(\.description).sorted()
        guard missing.isEmpty else {
            throw WorkCommandError("no work \(missing.joined(separator: ", ")) is \(state); \(changed.count) \(done)")
        }
        return ["\(changed.count) \(done)"]
    }

    // MARK: - Reading

    private func held(_ which: HeldWork.Selection, limit: Int, _ showsNumbers: Bool) async throws -> [HeldWork] {
        // One pass over what comes behind the oldest, however many are listed.
        let rows = try await database.query(
            """
            WITH held AS MATERIALIZED (
                SELECT * FROM work w WHERE \(which) ORDER BY id LIMIT \(limit)
            ), later AS MATERIALIZED (
                SELECT queue, key, id FROM work
                WHERE key IS NOT NULL AND id > (SELECT min(id) FROM held) AND parked_at IS NULL AND failure IS NULL
                ORDER BY id LIMIT \(HeldWork.laterMax)
            ), behind AS (
                SELECT held.id, count(*) AS count FROM held
                JOIN later ON later.queue = held.queue AND later.key = held.key AND later.id > held.id GROUP BY held.id
            )
            SELECT w.id, w.queue, CASE WHEN \(showsNumbers) OR w.key LIKE '%-%' THEN w.key ELSE '…' || right(w.key, 3) END,
                w.event_id::text, w.user_id::text,
                (CASE WHEN \(showsNumbers) OR NOT w.data ? 'phone' THEN w.data
                    ELSE w.data || jsonb_build_object('phone', '…' || right(w.data ->> 'phone', 3)) END)::text,
                w.created_at, CASE WHEN w.parked_at IS NULL AND w.tries > 0 THEN w.due_at END, w.parked_at, w.tries, w.failure,
                COALESCE(behind.count, 0), (SELECT count(*) FROM later)
            FROM held w LEFT JOIN behind ON behind.id = w.id ORDER BY w.id
            """,
            deadline: .after(Self.limit)
        )
        return try rows.map { try HeldWork($0) }
    }

    // MARK: - Changing

    /// Retries held work from now on.
    private func retry(_ which: HeldWork.Selection) async throws -> Changed {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds())
        return try await change(which) { ids in
            """
            UPDATE work SET parked_at = NULL, failure = NULL, tries = 0, due_at = '-infinity', retried_at = \(now)
            WHERE id = ANY(\(ids)) AND failure IS NOT NULL RETURNING id, event_id::text, queue
            """
        }
    }

    /// Deletes parked work. What waits behind it is done then.
    private func discard(_ which: HeldWork.Selection) async throws -> Changed {
        try await change(which) { ids in
            "DELETE FROM work WHERE id = ANY(\(ids)) AND parked_at IS NOT NULL RETURNING id, event_id::text, queue"
        }
    }

    private func change(_ which: HeldWork.Selection, _ statement: ([Int64]) -> Query) async throws -> Changed {
        var changed: Changed = []
        var after: Int64 = 0
        while true {
            let rows = try await database.query(
                "SELECT id, queue FROM work w WHERE \(which) AND id > \(after) ORDER BY id LIMIT \(Self.batchMax)",
                deadline: .after(Self.limit)
            )
            let batch = try rows.map { try $0.decode(Int64.self, String.self) }
            guard let last = batch.last else { return changed }
            after = last.0
            for (queue, rows) in Dictionary(grouping: batch, by: \.1) {
                try await preparations[queue]?(rows.map(\.0))
            }
            let done = try await database.execute(statement(batch.map(\.0)), deadline: .after(Self.limit))
            var queues: Set<String> = []
            for row in done {
                let (id, eventID, queue) = try row.decode(Int64.self, String.self, String.self)
                changed.append((id, eventID))
                queues.insert(queue)
            }
            try await retried(queues)
        }
    }
}
