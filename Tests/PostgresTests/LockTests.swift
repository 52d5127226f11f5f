import Dispatch
import LocalPostgres
import RPC
import RPCTransport
import Synchronization
import TestDatabases
import TestWaits
import Testing

@testable import Postgres

extension ServerTests {
    struct LockTests {
        private static let table = """
            CREATE TABLE app.t (n bigint PRIMARY KEY, count bigint NOT NULL DEFAULT 0);
            INSERT INTO app.t SELECT generate_series(0, 63);
            GRANT ALL ON app.t TO PUBLIC;
            """

        @Test
        func `A write that waits for a lock too long is refused for certain, and its neighbours lose nothing`()
            async throws
        {
            try await withClient(
                bootstrapSQL: Self.table,
                configure: {
                    $0.connectionsPerLoop = 2
                    $0.lockTimeout = .milliseconds(300)
                    $0.queryTimeout = .seconds(2)
                }
            ) { client, _ in
                try await client.withTransaction(deadline: .after(.seconds(20))) { transaction in
                    try await transaction.execute("UPDATE t SET count = 7 WHERE n = 1")
                    for isShared in [false, true] {
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for n in 0..<20 {
                                group.addTask {
                                    let update: Query = "UPDATE t SET count = count + 1 WHERE n = \(n)"
                                    let error = await postgresError {
                                        isShared
                                            ? try await client.executeTogether(update, key: LockKey(Int64(n)))
                                            : try await client.execute(update)
                                    }
                                    if n == 1 {
                                        #expect(error?.sqlState == .lockNotAvailable && error?.isUnavailable == true)
                                    } else if let error {
                                        throw error
                                    }
                                }
                            }
                            try await group.waitForAll()
                        }
                    }
                }
                let sum = try await client.query("SELECT sum(count)::bigint FROM t")[0].decode(0, as: Int.self)
                #expect(sum == 19 * 2 + 7)
                #expect(client.statistics(waitingAtMost: .seconds(10))[0].connectionsLost == 0)
            }
        }

        @Test
        func `Writes of one row have separate commits, while those of other rows share one`() async throws {
            try await withClientAndLoops(bootstrapSQL: Self.table) { client, _, loops in
                try await client.ping()
                let commits = try await Task(executorPreference: loops[0]) {
                    try await withThrowingTaskGroup(of: (Int, Int64).self) { tasks in
                        for n in [5, 1, 5, 2, 5, 3, 4] {
                            tasks.addTask {
                                let rows = try await client.executeTogether(
                                    "UPDATE t SET count = count + 1 WHERE n = \(n) RETURNING txid_current()",
                                    key: LockKey(Int64(n))
                                )
                                return (n, try rows[0].decode(0, as: Int64.self))
                            }
                        }
                        return try await tasks.reduce(into: [(Int, Int64)]()) { $0.append($1) }
                    }
                }.value
                #expect(Set(commits.filter { $0.0 == 5 }.map(\.1)).count == 3)
                #expect(Set(commits.filter { $0.0 != 5 }.map(\.1)).count == 1)
                let count = try await client.query("SELECT count FROM t WHERE n = 5")[0].decode(0, as: Int.self)
                #expect(count == 3)
            }
        }

        @Test func `A write that waits for its row is no part of the transaction that gets its connection`()
            async throws
        {
            try await withClient(bootstrapSQL: Self.table, configure: { $0.connectionsPerLoop = 2 }) {
                client,
                database in
                // Both connections are open.
                try await client.withTransaction { transaction in
                    try await transaction.query("SELECT 1")
                    try await client.query("SELECT 1")
                }
                let slow: Query = "UPDATE t SET count = count + 1 WHERE n = 1 AND pg_sleep(0.5) IS NOT NULL"
                let first = Task { try await client.executeTogether(slow, key: LockKey(1)) }
                try await database.waitUntilActive("%pg_sleep%")
                let second = Task {
                    try await client.executeTogether("UPDATE t SET count = count + 1 WHERE n = 1", key: LockKey(1))
                }
                try await eventually("the second write is placed") {
                    client.statistics(waitingAtMost: .seconds(10))[0].pipelineDepth == 2
                }
                await #expect(throws: Undone.self) {
                    try await client.withTransaction { transaction in
                        try await transaction.query("SELECT 1")
                        let affected = try await second.value.affected
                        #expect(affected == 1)
                        throw Undone()
                    }
                }
                let affected = try await first.value.affected
                #expect(affected == 1)
                let count = try await client.query("SELECT count FROM t WHERE n = 1")[0].decode(0, as: Int.self)
                #expect(count == 2)
            }
        }

        @Test func `A write that is done again for its neighbour is no part of the transaction behind it`() async throws
        {
            try await withClientAndLoops(
                bootstrapSQL: Self.table,
                configure: { $0.connectionsPerLoop = 1 }
            ) { client, _, loops in
                try await client.ping()
                let bad: Query = "UPDATE t SET count = 1 / count WHERE n = 1 AND pg_sleep(0.3) IS NOT NULL"
                try await Task(executorPreference: loops[0]) {
                    async let neighbour = postgresError { try await client.executeTogether(bad, key: LockKey(1)) }
                    async let write = client.executeTogether("UPDATE t SET count = 7 WHERE n = 2", key: LockKey(2))
                    async let fault = postgresError {
                        try await client.withTransaction { transaction in
                            try await transaction.query("SELECT 1")
                            try await Task.sleep(for: .milliseconds(200))
                            throw Undone()
                        }
                    }
                    let (state, affected, other) = (await neighbour?.sqlState, try await write.affected, await fault)
                    #expect(state?.code == "22012" && affected == 1 && other == nil)
                }.value
                let count = try await client.query("SELECT count FROM t WHERE n = 2")[0].decode(0, as: Int.self)
                #expect(count == 7)
            }
        }

        @Test func `A key that a lost connection held is free again`() async throws {
            let suicide = """
                WITH changed AS (UPDATE t SET count = 1 WHERE n = 1 RETURNING n)
                SELECT pg_terminate_backend(pg_backend_pid()) FROM changed
                """
            try await withClientAndLoops(bootstrapSQL: Self.table) { client, _, loops in
                for round in 1...3 {
                    let error = await Task(executorPreference: loops[0]) {
                        await postgresError {
                            try await client.executeTogether(
                                Query(unsafeSQL: suicide),
                                key: LockKey(1)
                            )
                        }
                    }.value
                    guard case .connectionLost(true) = error else { throw error ?? .closed }
                    let rows = try await client.executeTogether(
                        "UPDATE t SET count = \(round) WHERE n = 1",
                        key: LockKey(1)
                    )
                    #expect(rows.affected == 1)
                }
            }
        }

        @Test func `A deadlock between single statements is tried again, and is nobody's failure`() async throws {
            try await withClient(
                loopCount: 2,
                bootstrapSQL: Self.table,
                configure: { $0.lockTimeout = .seconds(5) }
            ) { client, database in
                func both(_ first: Int, _ second: Int) async throws {
                    let text = """
                        DO $$ BEGIN
                            UPDATE t SET count = count + 1 WHERE n = \(first);
                            PERFORM pg_sleep(0.3);
                            UPDATE t SET count = count + 1 WHERE n = \(second);
                        END $$
                        """
                    try await client.execute(Query(unsafeSQL: text), deadline: .after(.seconds(20)))
                }
                try await client.ping()
                for _ in 0..<2 {
                    async let up: Void = both(1, 2)
                    async let down: Void = both(2, 1)
                    _ = try await (up, down)
                }
                let sum = try await client.query("SELECT sum(count)::bigint FROM t")[0].decode(0, as: Int.self)
                #expect(sum == 8)
                await client.shutdown()
                #expect(try database.deadlocks() != 0)
            }
        }

        @Test func `A transaction whose prepared statement a migration has outdated is run again`() async throws {
            try await withClient(bootstrapSQL: Self.table, configure: { $0.connectionsPerLoop = 1 }) {
                client,
                database in
                func columns(retries: Int) async throws -> Int {
                    try await client.withTransaction(retries: retries) { transaction in
                        try await transaction.query("SELECT * FROM t WHERE n = 1")[0].storage.columnCount
                    }
                }
                #expect(try await columns(retries: 0) == 2)
                try database.cluster.runSQL("ALTER TABLE app.t ADD COLUMN a bigint;", database: database.database)
                let error = await postgresError { try await columns(retries: 0) }
                #expect(error?.sqlState == .featureNotSupported)
                #expect(error?.isRetryableConflict == true && error?.isUnavailable == true)
                #expect(try await columns(retries: 0) == 3)
                try database.cluster.runSQL("ALTER TABLE app.t ADD COLUMN b bigint;", database: database.database)
                #expect(try await columns(retries: 1) == 4)
            }
        }

        @Test
        func `A transaction is tried again as often as was said, after pauses, and for the conflicts that were named`()
            async throws
        {
            try await withClient { client, _ in
                let tries = Atomic(0)
                func fail(_ state: SQLState, retries: Int, _ deadline: Deadline? = nil) async -> PostgresError? {
                    tries.store(0, ordering: .relaxed)
                    return await postgresError {
                        try await client.withTransaction(
                            retries: retries,
                            orAfter: { $0.sqlState == .checkViolation },
                            deadline: deadline
                        ) { _ in
                            tries.add(1, ordering: .relaxed)
                            throw PostgresError.server(PostgresServerError(state: state, message: ""))
                        }
                    }
                }
                let start = ContinuousClock.now
                for state in [SQLState.serializationFailure, .deadlockDetected, .readOnlyTransaction, .checkViolation] {
                    #expect(await fail(state, retries: 3)?.sqlState == state)
                    #expect(tries.load(ordering: .relaxed) == 4)
                }
                // Half of 4, 8 and 16 ms at least, each time.
                #expect(ContinuousClock.now - start > .milliseconds(4 * 14))
                #expect(await fail(.uniqueViolation, retries: 3) != nil)
                #expect(tries.load(ordering: .relaxed) == 1)
                #expect(await fail(.deadlockDetected, retries: 1_000_000, .after(.milliseconds(300))) != nil)
                #expect(tries.load(ordering: .relaxed) < 20)
            }
        }
    }
}

/// Ends a transaction.
private struct Undone: Error {}
