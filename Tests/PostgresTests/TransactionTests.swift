import Postgres
import RPC
import TestDatabases
import Testing

extension ServerTests {
    struct TransactionTests {
        private struct Refused: Error {}

        private func count(_ client: PostgresClient) async throws -> Int {
            try await client.query("SELECT count(*) FROM t")[0].decode(0, as: Int.self)
        }

        private let table = "CREATE TABLE app.t (n bigint PRIMARY KEY); GRANT ALL ON app.t TO PUBLIC;"

        @Test func `A body that returns is committed, one that throws is rolled back`() async throws {
            try await withClient(loopCount: 2, bootstrapSQL: table) { client, _ in
                let sum = try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    try await transaction.execute("INSERT INTO t VALUES (\(2))")
                    return try await transaction.query("SELECT sum(n)::bigint FROM t")[0].decode(0, as: Int.self)
                }
                #expect(sum == 3)
                await #expect(throws: Refused.self) {
                    try await client.withTransaction { transaction in
                        try await transaction.execute("INSERT INTO t VALUES (3)")
                        throw Refused()
                    }
                }
                #expect(try await count(client) == 2)
                try await client.withTransaction { _ in }
            }
        }

        @Test func `A statement's failure ends it, even if the closure looks away`() async throws {
            try await withClient(bootstrapSQL: table) { client, _ in
                let error = await postgresError {
                    try await client.withTransaction { transaction in
                        try await transaction.execute("INSERT INTO t VALUES (1)")
                        _ = try? await transaction.execute("INSERT INTO t VALUES (1)")
                    }
                }
                #expect(error?.sqlState == .inFailedTransaction)
                let left = try await count(client)
                #expect(left == 0)
            }
        }

        @Test func `A cancelled task's transaction is undone`() async throws {
            try await withClient(bootstrapSQL: table) { client, _ in
                let task = Task {
                    try await client.withTransaction { transaction in
                        try await transaction.execute("INSERT INTO t VALUES (1)")
                        withUnsafeCurrentTask { $0?.cancel() }
                    }
                }
                let error = await postgresError { try await task.value }
                guard case .cancelled = error else { throw error ?? .closed }
                #expect(try await count(client) == 0)
            }
        }

        @Test func `A transaction used after its end is refused`() async throws {
            try await withClient(bootstrapSQL: table) { client, _ in
                let escaped = try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    return transaction
                }
                let error = await postgresError { try await escaped.query("SELECT 1") }
                guard case .invalidQuery = error else { throw error ?? .closed }
            }
        }

        @Test func `Conflicting serializable transactions are a typed error, and succeed when retried`() async throws {
            try await withClient(loopCount: 2, bootstrapSQL: table + "INSERT INTO app.t VALUES (0);") { client, _ in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            for _ in 0..<5 {
                                try await client.withTransaction(
                                    isolation: .serializable,
                                    retries: 100,
                                    deadline: .after(.seconds(20))
                                ) { transaction in
                                    let top = try await transaction.query("SELECT max(n) FROM t")[0].decode(
                                        0,
                                        as: Int.self
                                    )
                                    try await transaction.execute("UPDATE t SET n = \(top + 1)")
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await client.query("SELECT n FROM t")[0].decode(0, as: Int.self) == 20)

                let error = await postgresError {
                    try await client.withTransaction(isolation: .repeatableRead) { transaction in
                        try await transaction.query("SELECT n FROM t")
                        try await client.execute("UPDATE t SET n = n + 1")
                        try await transaction.execute("UPDATE t SET n = n + 1")
                    }
                }
                #expect(error?.sqlState == .serializationFailure && error?.isRetryableConflict == true)
            }
        }

        @Test
        func `Transactions beyond the connections wait their turn, and only so long; others still get through`()
            async throws
        {
            try await withClient(
                bootstrapSQL: table,
                configure: {
                    $0.connectionsPerLoop = 2
                    $0.waitersMax = 2
                    $0.waitLimit = .milliseconds(500)
                }
            ) { client, _ in
                let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
                let (release, releases) = AsyncStream.makeStream(of: Void.self)
                let holder = Task {
                    try await client.withTransaction { transaction in
                        try await transaction.execute("INSERT INTO t VALUES (1)")
                        isHeld.yield()
                        for await _ in release { break }
                    }
                }
                for await _ in held { break }
                #expect(try await count(client) == 0)  // Opens the second connection, which is never leased.
                let late = await postgresError { try await client.withTransaction { _ in } }
                guard case .poolExhausted = late else { throw late ?? .closed }
                #expect(try await count(client) == 0)
                let waiters = (0..<5).map { _ in
                    Task<PostgresError?, Never> {
                        await postgresError { try await client.withTransaction { try await $0.query("SELECT 1") } }
                    }
                }
                var refused = 0
                for waiter in waiters {
                    if case .poolExhausted = await waiter.value { refused += 1 }
                }
                #expect(refused == 5)
                let patient = Task { try await client.withTransaction { try await $0.query("SELECT count(*) FROM t") } }
                releases.yield()
                try await holder.value
                #expect(try await patient.value[0].decode(0, as: Int.self) >= 0)
                #expect(try await count(client) == 1)
            }
        }

        @Test func `A transaction that outlives its deadline is rolled back, and its connection is reused`()
            async throws
        {
            try await withClient(bootstrapSQL: table, configure: { $0.connectionsPerLoop = 1 }) { client, _ in
                // Connects, which may take longer than the deadlines below.
                try await client.ping()
                let error = await postgresError {
                    try await client.withTransaction(deadline: .after(.milliseconds(150))) { transaction in
                        try await transaction.execute("INSERT INTO t VALUES (1)")
                        try await transaction.query("SELECT pg_sleep(3)")
                    }
                }
                guard case .timeout(false) = error else { throw error ?? .closed }
                let idle = await postgresError {
                    try await client.withTransaction(deadline: .after(.milliseconds(150))) { transaction in
                        try await transaction.execute("INSERT INTO t VALUES (2)")
                        try await Task.sleep(for: .milliseconds(400))
                    }
                }
                #expect(idle != nil)
                #expect(try await count(client) == 0)
            }
        }
    }
}
