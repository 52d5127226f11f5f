import Dispatch
import Postgres
import RPC
import RPCTransport
import TestDatabases
import TestWaits
import Testing

extension ServerTests {
    struct KeyedReadTests {
        private static let bootstrap = """
            CREATE TABLE app.things (id integer PRIMARY KEY, big bigint UNIQUE, name text);
            INSERT INTO app.things SELECT n, n * 10000000000, 'thing ' || n FROM generate_series(-5, 300) AS n;
            GRANT ALL ON app.things TO PUBLIC;
            """
        private static let name = KeyedRead("name, id", from: "things", key: "id", keyType: .int32)

        private func name(_ client: PostgresClient, _ key: Int32, _ deadline: Deadline? = nil) async throws -> String? {
            guard let row = try await client.row(Self.name, key: ReadKey(key), deadline: deadline) else { return nil }
            let (name, id) = try row.decode(String.self, Int32.self)
            #expect(id == key)
            return name
        }

        @Test
        func `Everyone gets their own row, once however many ask for it, in far fewer statements than reads`()
            async throws
        {
            try await withClient(loopCount: 2, bootstrapSQL: Self.bootstrap) { client, _ in
                try await client.ping()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for n in 0..<2000 {
                        group.addTask {
                            let key = Int32(n % 400)
                            let found = try await name(client, key)
                            #expect(found == (key <= 300 ? "thing \(key)" : nil))
                        }
                    }
                    try await group.waitForAll()
                }
                let statements = client.statistics(waitingAtMost: .seconds(10)).map(\.statements).reduce(0, +)
                #expect(statements < 1500)
            }
        }

        @Test
        func `One turn's reads of one kind are one statement, up to its maximum; other kinds have their own`()
            async throws
        {
            try await withClientAndLoops(bootstrapSQL: Self.bootstrap) { client, _, loops in
                let big = KeyedRead("name", from: "things", key: "big", keyType: .int64)
                try await client.ping()
                let before = client.statistics(waitingAtMost: .seconds(10))[0].statements
                // Children of a task on the loop begin in one turn.
                let names = try await Task(executorPreference: loops[0]) {
                    try await withThrowingTaskGroup(of: String?.self) { tasks in
                        for n in 0..<100 { tasks.addTask { try await name(client, Int32(n)) } }
                        tasks.addTask {
                            try await client.row(big, key: ReadKey(Int64(-50_000_000_000)))?.decode(0, as: String.self)
                        }
                        return try await tasks.reduce(into: Set()) { $0.insert($1) }
                    }
                }.value
                let after = client.statistics(waitingAtMost: .seconds(10))[0].statements
                #expect(names == Set((0..<100).map { "thing \($0)" } + ["thing -5"]))
                #expect(after - before == 5)
            }
        }

        @Test func `Keys of each type are found, and their like of another size or sign are not`() async throws {
            let ids = """
                CREATE TABLE app.ids (id uuid PRIMARY KEY, name text);
                INSERT INTO app.ids VALUES ('ffffffff-0000-0000-0000-000000000001', NULL);
                GRANT ALL ON app.ids TO PUBLIC;
                """
            try await withClient(bootstrapSQL: ids) { client, _ in
                let name = KeyedRead("name", from: "ids", key: "id", keyType: .uuid)
                let row = try await client.row(name, key: ReadKey(PostgresUUID(high: 0xffff_ffff_0000_0000, low: 1)))
                #expect(try #require(row).decode(0, as: String?.self) == nil)
                #expect(try await client.row(name, key: ReadKey(PostgresUUID(high: 1, low: 1))) == nil)
            }
            try await withClient(bootstrapSQL: Self.bootstrap) { client, _ in
                #expect(try await name(client, -5) == "thing -5")
                #expect(try await name(client, .max) == nil)
                let big = KeyedRead("name", from: "things", key: "big", keyType: .int64)
                #expect(try await client.row(big, key: ReadKey(Int64(3))) == nil)
                let row = try await client.row(big, key: ReadKey(Int64(3_000_000_000_000)))
                #expect(try row?.decode(0, as: String.self) == "thing 300")
            }
        }

        @Test func `A read that the server refuses fails for all who asked, and for nobody else`() async throws {
            try await withClient(bootstrapSQL: Self.bootstrap) { client, _ in
                let wrong = KeyedRead("nowhere", from: "things", key: "id", keyType: .int32)
                await withTaskGroup(of: Void.self) { group in
                    for n in 0..<40 {
                        group.addTask {
                            if n.isMultiple(of: 2) {
                                let error = await postgresError { try await client.row(wrong, key: ReadKey(Int32(n))) }
                                #expect(error?.sqlState == SQLState("42703"))
                            } else {
                                await #expect(throws: Never.self) { try await name(client, Int32(n)) }
                            }
                        }
                    }
                }
            }
        }

        @Test func `Each caller of a delayed statement waits as long as its own deadline`() async throws {
            try await withClient(bootstrapSQL: Self.bootstrap) { client, _ in
                #expect(try await name(client, 1) == "thing 1")
                let holder = Task {
                    try await client.withTransaction { transaction in
                        try await transaction.execute("LOCK TABLE things")
                        try await Task.sleep(for: .seconds(1))
                    }
                }
                try await eventuallyLocked(client)
                async let patient = name(client, 2, .after(.seconds(30)))
                let error = await postgresError { try await name(client, 3, .after(.milliseconds(50))) }
                guard case .timeout(false) = error else { throw error ?? .closed }
                #expect(try await patient == "thing 2")
                try await holder.value
            }
        }

        @Test func `Reads whose connection is lost are asked again`() async throws {
            try await withClient(bootstrapSQL: Self.bootstrap) { client, _ in
                #expect(try await name(client, 1) == "thing 1")
                let holder = Task {
                    try await client.withTransaction { transaction in
                        try await transaction.execute("LOCK TABLE things")
                        var ended: Int64 = 0
                        while ended == 0 {
                            try await Task.sleep(for: .milliseconds(10))
                            ended = try await transaction.query(
                                """
                                SELECT count(pg_terminate_backend(pid)) FROM pg_locks
                                WHERE relation = 'things'::regclass AND NOT granted
                                """
                            )[0].decode(0, as: Int64.self)
                        }
                    }
                }
                try await eventuallyLocked(client)
                #expect(try await name(client, 2, .after(.seconds(30))) == "thing 2")
                try await holder.value
                let lost = client.statistics(waitingAtMost: .seconds(10)).map(\.connectionsLost).reduce(0, +)
                #expect(lost > 0)
            }
        }

        @Test func `The index is used however small the table seems`() async throws {
            let bootstrap = """
                CREATE TABLE app.few (id integer PRIMARY KEY);
                INSERT INTO app.few VALUES (1);
                GRANT ALL ON app.few TO PUBLIC;
                """
            try await withClient(bootstrapSQL: bootstrap) { client, _ in
                let few = KeyedRead("id", from: "few", key: "id", keyType: .int32)
                let counts: Query =
                    "SELECT seq_scan, coalesce(idx_scan, 0) FROM pg_stat_user_tables WHERE relname = 'few'"
                let end = Deadline.after(.seconds(30))
                var (sequential, byIndex): (Int64, Int64) = (0, 0)
                while byIndex < 20, !end.hasPassed {
                    // What a session has counted it tells about once a second, when it is asked something.
                    for _ in 0..<20 { #expect(try await client.row(few, key: ReadKey(Int32(1))) != nil) }
                    try await Task.sleep(for: .milliseconds(300))
                    (sequential, byIndex) = try await client.query(counts)[0].decode(Int64.self, Int64.self)
                }
                // One made the index.
                #expect(sequential == 1 && byIndex >= 20)
            }
        }

        @Test func `After a shutdown reads are refused, and those under way were answered`() async throws {
            try await withClient(bootstrapSQL: Self.bootstrap) { client, _ in
                #expect(try await name(client, 1) == "thing 1")
                await withTaskGroup(of: Void.self) { group in
                    for n in 0..<200 {
                        group.addTask {
                            do {
                                let found = try await name(client, Int32(n))
                                #expect(found == "thing \(n)")
                            } catch {
                                guard let error = error as? PostgresError, case .closed = error else {
                                    Issue.record(error)
                                    return
                                }
                            }
                        }
                    }
                    await client.shutdown()
                }
                let error = await postgresError { try await name(client, 1) }
                guard case .closed = error else { throw error ?? .closed }
            }
        }

        private func eventuallyLocked(_ client: PostgresClient) async throws {
            let locks: Query = """
                SELECT count(*) FROM pg_locks
                WHERE relation = 'things'::regclass AND mode = 'AccessExclusiveLock' AND granted
                """
            try await eventually { try await client.query(locks)[0].decode(0, as: Int64.self) > 0 }
        }
    }
}
