import Postgres
import RPC
import RPCTransport
import TestDatabases
import Testing

extension ServerTests {
    struct SharedCommitTests {
        private static let table = """
            CREATE TABLE app.t (n bigint PRIMARY KEY, count bigint NOT NULL DEFAULT 0);
            GRANT ALL ON app.t TO PUBLIC;
            """

        /// Inserts numbers in one turn of a loop; the transaction of each, or why it was refused.
        private func insert(
            _ numbers: [Int],
            _ client: PostgresClient,
            on loop: EventLoop
        ) async -> [Int: Result<Int64, PostgresError>] {
            await Task(executorPreference: loop) {
                await withTaskGroup(of: (Int, Result<Int64, PostgresError>).self) { tasks in
                    for n in numbers {
                        tasks.addTask {
                            do throws(PostgresError) {
                                let rows = try await client.executeTogether(
                                    "INSERT INTO t VALUES (\(n)) RETURNING txid_current()",
                                    key: LockKey(Int64(n))
                                )
                                return (n, .success(try rows[0].decode(0, as: Int64.self)))
                            } catch {
                                return (n, .failure(error))
                            }
                        }
                    }
                    return await tasks.reduce(into: [:]) { $0[$1.0] = $1.1 }
                }
            }.value
        }

        private func count(_ client: PostgresClient) async throws -> Int {
            try await client.query("SELECT count(*) FROM t")[0].decode(0, as: Int.self)
        }

        @Test func `A turn's writes are one transaction, up to the most that share one`() async throws {
            try await withClientAndLoops(bootstrapSQL: Self.table) { client, _, loops in
                try await client.ping()
                let outcomes = await insert(Array(0..<80), client, on: loops[0])
                let transactions = try outcomes.values.map { try $0.get() }
                #expect(transactions.count == 80)
                #expect(Set(transactions).count == 3)
                #expect(try await count(client) == 80)
            }
        }

        @Test func `A write that is refused fails alone, and the others are done once`() async throws {
            try await withClientAndLoops(bootstrapSQL: Self.table) { client, _, loops in
                try await client.execute("INSERT INTO t VALUES (7)")
                let outcomes = await insert(Array(0..<20), client, on: loops[0])
                for (n, outcome) in outcomes {
                    if n == 7 {
                        guard case .failure(let error) = outcome else { throw PostgresError.closed }
                        #expect(error.sqlState == .uniqueViolation)
                    } else {
                        _ = try outcome.get()
                    }
                }
                #expect(try await count(client) == 20)
            }
        }

        @Test func `A write whose preparation is refused fails alone`() async throws {
            try await withClientAndLoops(bootstrapSQL: Self.table) { client, _, loops in
                try await client.ping()
                let results = await Task(executorPreference: loops[0]) {
                    async let good = insert([1, 2, 3], client, on: loops[0])
                    async let bad = postgresError {
                        try await client.executeTogether("INSERT INTO nowhere VALUES (1)", key: LockKey(4))
                    }
                    return await (good, bad)
                }.value
                for outcome in results.0.values { _ = try outcome.get() }
                #expect(results.1?.sqlState == SQLState("42P01"))
                #expect(try await count(client) == 3)
            }
        }

        @Test func `A write that the commit itself refuses is refused alone`() async throws {
            let table = """
                CREATE TABLE app.t (n bigint UNIQUE DEFERRABLE INITIALLY DEFERRED);
                INSERT INTO app.t VALUES (7);
                GRANT ALL ON app.t TO PUBLIC;
                """
            try await withClientAndLoops(bootstrapSQL: table) { client, _, loops in
                try await client.ping()
                let outcomes = await insert([5, 6, 7, 8], client, on: loops[0])
                let refused = outcomes.filter { if case .failure = $0.value { true } else { false } }
                #expect(Array(refused.keys) == [7])
                guard case .failure(let error) = refused[7] else { throw PostgresError.closed }
                #expect(error.sqlState == .uniqueViolation)
                #expect(try await count(client) == 4)
            }
        }

        @Test
        func `Those that would lock each other's rows crosswise are sent in one order, and never meet in a deadlock`()
            async throws
        {
            let rows = Self.table + "INSERT INTO app.t VALUES (1), (2);"
            try await withClientAndLoops(loopCount: 2, bootstrapSQL: rows) { client, database, loops in
                @Sendable func slowly(_ n: Int) async throws {
                    _ = try await client.executeTogether(
                        """
                        WITH counted AS (UPDATE t SET count = count + 1 WHERE n = \(n) RETURNING n)
                        SELECT n, pg_sleep(0.3) FROM counted
                        """,
                        key: LockKey(Int64(n)),
                        deadline: .after(.seconds(30))
                    )
                }
                try await client.ping()
                let crossing = [(loops[0], [1, 2]), (loops[1], [2, 1])].map { loop, order in
                    Task(executorPreference: loop) {
                        try await withThrowingTaskGroup(of: Void.self) { tasks in
                            for n in order { tasks.addTask { try await slowly(n) } }
                            try await tasks.waitForAll()
                        }
                    }
                }
                for task in crossing { try await task.value }
                let counts = try await client.query("SELECT count FROM t ORDER BY n").map { row in
                    try row.decode(0, as: Int64.self)
                }
                #expect(counts == [2, 2])
                await client.shutdown()
                #expect(try database.deadlocks() == 0)
            }
        }
    }
}
