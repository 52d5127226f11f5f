import Dispatch
import LocalPostgres
import Postgres
import RPC
import RPCTransport
import TestDatabases
import Testing

extension ServerTests {
    struct CancellationTests {
        /// When a statement that is not cancelled fails with another error.
        private static let timeout = PostgresConfiguration(host: "", user: "", database: "").queryTimeout

        /// Cancels a task once the database runs a statement like the pattern; returns its error, and how long that took.
        private func cancel<R: Sendable>(
            _ task: Task<R, any Error>,
            at pattern: String,
            _ database: TestDatabase
        ) async throws -> (PostgresError?, Duration) {
            try await database.waitUntilActive(pattern)
            let start = ContinuousClock.now
            task.cancel()
            let error = await postgresError { try await task.value }
            return (error, ContinuousClock.now - start)
        }

        @Test func `A cancelled caller doesn't wait, and the outcome of a write that was sent is unknown`()
            async throws
        {
            try await withClient { client, database in
                let read = Task { try await client.query("SELECT pg_sleep(60), 'read'") }
                let (readError, readTime) = try await cancel(read, at: "%''read''%", database)
                guard case .cancelled(outcomeUnknown: false) = readError else { throw readError ?? .closed }
                #expect(readTime < Self.timeout)
                let write = Task { try await client.execute("SELECT pg_sleep(60), 'write'") }
                let (writeError, writeTime) = try await cancel(write, at: "%''write''%", database)
                guard case .cancelled(outcomeUnknown: true) = writeError else { throw writeError ?? .closed }
                #expect(writeTime < Self.timeout)
            }
        }

        @Test
        func `A cancelled caller of a read by key doesn't wait, and other callers of the read continue`() async throws {
            let things = """
                CREATE TABLE app.things (id integer PRIMARY KEY);
                INSERT INTO app.things VALUES (1);
                GRANT ALL ON app.things TO PUBLIC;
                """
            try await withClient(bootstrapSQL: things) { client, database in
                let thing = KeyedRead("id", from: "things", key: "id", keyType: .int32)
                try await client.withTransaction { transaction in
                    try await transaction.execute("LOCK TABLE things")
                    let patient = Task { try await client.row(thing, key: ReadKey(Int32(1))) }
                    let hasty = Task { try await client.row(thing, key: ReadKey(Int32(1))) }
                    let (error, time) = try await cancel(hasty, at: "%unnest%", database)
                    guard case .cancelled(outcomeUnknown: false) = error else { throw error ?? .closed }
                    #expect(time < Self.timeout)
                    patient.cancel()
                    _ = await patient.result
                }
                #expect(try await client.row(thing, key: ReadKey(Int32(1))) != nil)
            }
        }

        @Test func `A cancelled waiter for a connection leaves its place to the next`() async throws {
            try await withClient(configure: {
                $0.connectionsPerLoop = 2
                $0.waitersMax = 1
                $0.waitLimit = .seconds(20)
                $0.queryTimeout = .seconds(20)
            }) { client, _ in
                let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
                let (release, releases) = AsyncStream.makeStream(of: Void.self)
                let holder = Task {
                    try await client.withTransaction { transaction in
                        try await transaction.query("SELECT 1")
                        isHeld.yield()
                        for await _ in release { break }
                    }
                }
                for await _ in held { break }
                try await client.ping()
                let gone = Task { try await client.withTransaction { try await $0.query("SELECT 1") } }
                while client.statistics(waitingAtMost: .seconds(10))[0].waiters == 0 { await Task.yield() }
                gone.cancel()
                let start = ContinuousClock.now
                let error = await postgresError { try await gone.value }
                guard case .cancelled(outcomeUnknown: false) = error else { throw error ?? .closed }
                #expect(ContinuousClock.now - start < .seconds(10))
                let next = Task { try await client.withTransaction { try await $0.query("SELECT 1") } }
                while client.statistics(waitingAtMost: .seconds(10))[0].waiters == 0 { await Task.yield() }
                releases.yield()
                try await holder.value
                #expect(try await next.value.count == 1)
            }
        }

        @Test
        func `A cancelled transaction's statement is stopped at the server, and its connection kept`() async throws {
            let table = "CREATE TABLE app.t (n bigint); GRANT ALL ON app.t TO PUBLIC;"
            try await withClient(bootstrapSQL: table) { client, database in
                let task = Task {
                    try await client.withTransaction(deadline: .after(.seconds(60))) { transaction in
                        try await transaction.execute("INSERT INTO t VALUES (1)")
                        return try await transaction.query("SELECT pg_sleep(40), 'inside'")
                    }
                }
                let (error, time) = try await cancel(task, at: "%''inside''%", database)
                guard case .cancelled = error else { throw error ?? .closed }
                #expect(time < .seconds(20))
                try await database.waitUntilActive("%''inside''%", isActive: false)
                #expect(client.statistics(waitingAtMost: .seconds(10))[0].connectionsLost == 0)
                let left = try await client.query("SELECT count(*) FROM t")[0].decode(0, as: Int.self)
                #expect(left == 0)
            }
        }

        @Test
        func `Under many random cancellations every other statement gets its own answer`() async throws {
            try await withClient(loopCount: 2, configure: { $0.connectionsPerLoop = 3 }) { client, _ in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for worker in 0..<24 {
                        group.addTask {
                            for n in 0..<40 {
                                let number = worker * 1000 + n
                                let sleep: Query = "SELECT pg_sleep(\(Double(n % 4) / 200)), \(number)"
                                let task = Task {
                                    try await client.withTransaction(deadline: .after(.seconds(20))) {
                                        try await $0.query(sleep)[0].decode(1, as: Int.self)
                                    }
                                }
                                if n % 3 == 0 {
                                    try await Task.sleep(for: .milliseconds(n % 17))
                                    task.cancel()
                                }
                                do {
                                    #expect(try await task.value == number)
                                } catch let error as PostgresError {
                                    guard case .cancelled = error, n % 3 == 0 else { throw error }
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}
