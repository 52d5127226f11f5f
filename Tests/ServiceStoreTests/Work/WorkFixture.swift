import Logging
import Postgres
import RPC
import RPCTransport
import ServiceKit
import Synchronization
import TestDatabases

@testable import ServiceStore

/// An ordered queue of numbers in a database of its own, and a clock that is set.
struct WorkFixture {
    static let queue = "tests"

    /// Numbers that are done by a closure.
    struct Kind: WorkKind {
        static let columns = ["(w.data ->> 'number')::bigint"]

        let queue = WorkFixture.queue
        let rules: WorkRules
        let body: @Sendable ([Int64]) async throws -> Void

        func item(_ row: Row, from first: Int) throws -> Int64? {
            let number = try row.decode(first, as: Int64.self)
            return number < 0 ? nil : number
        }

        func perform(_ items: [Int64], deadline: Deadline) async throws { try await body(items) }
    }

    let database: PostgresClient
    private let clock: Mutexed

    private final class Mutexed: Sendable {
        let milliseconds = Mutex<Int64>(1_800_000_000_000)
    }

    /// Runs a body with a fixture.
    static func run(_ body: (WorkFixture) async throws -> Void) async throws {
        let sql = WorkTable.sql + "\nINSERT INTO ordered_queues VALUES ('\(queue)');"
        let migrations = [Migration(number: 1, name: "work", sql: sql)]
        try await TestDatabase.withMigrated(migrations, schema: "work") { facts in
            let group = try EventLoopGroup(loopCount: 1, name: "test")
            let database = PostgresClient(facts.configuration, group: group)
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(WorkFixture(database: database, clock: Mutexed())))
            } catch {
                result = .failure(error)
            }
            await database.shutdown()
            await group.shutdown()
            try result.get()
        }
    }

    /// The time, in Unix milliseconds.
    var now: Int64 { clock.milliseconds.withLock { $0 } }

    func advance(milliseconds: Int64) { clock.milliseconds.withLock { $0 += milliseconds } }

    var table: WorkTable { WorkTable(database) { [clock] in clock.milliseconds.withLock { $0 } } }

    /// A runner that looks for work only when it is nudged.
    func runner(
        together: Int = 100,
        atOnce: Int? = nil,
        triesMax: Int? = nil,
        _ body: @escaping @Sendable ([Int64]) async throws -> Void
    ) -> WorkRunner<Kind> {
        var rules = WorkRules()
        // Calls side by side are for queues without an order.
        rules.isOrdered = atOnce == nil
        rules.atOnce = atOnce ?? 1
        rules.together = together
        rules.triesMax = triesMax
        rules.pollInterval = .milliseconds(50)
        rules.retry = Backoff(first: .seconds(1), max: .seconds(4))
        return WorkRunner(
            Kind(rules: rules, body: body),
            in: table,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// Adds numbers; each has a key of its own if none is given.
    func add(_ numbers: [Int64], key: String? = nil) async throws {
        for number in numbers {
            try await database.execute(
                """
                INSERT INTO work (queue, key, event_id, created_at, data)
                VALUES (\(Self.queue), \(key ?? "k\(number)"), gen_random_uuid(), \(PostgresTimestamp(milliseconds: now)),
                    jsonb_build_object('number', \(number)))
                """
            )
        }
    }

    /// The rows, in words.
    func rows() async throws -> [String] {
        let now = PostgresTimestamp(milliseconds: now)
        return try await database.query(
            """
            SELECT concat_ws(' ', data ->> 'number', 'tries', tries,
                CASE WHEN parked_at IS NOT NULL THEN 'parked' WHEN due_at <= \(now) THEN 'due' ELSE 'waits' END, failure)
            FROM work ORDER BY id
            """
        ).map { try $0.decode(0) }
    }

    /// The metrics of a runner.
    func lines(of runner: WorkRunner<Kind>) -> [String] {
        var text = MetricsText()
        WorkMetricsList([runner.metrics]).write(to: &text)
        return text.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    }
}
