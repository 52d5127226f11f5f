import LocalPostgres
import RPC
import RPCTransport
import TestDatabases
import TestWaits
import Testing

@testable import Postgres

extension ServerTests {
    struct MigrationTests {
        private let one = Migration(number: 1, name: "first", sql: "CREATE TABLE a (n int); CREATE TABLE b (n int);")
        private let two = Migration(number: 2, name: "it's second", sql: "INSERT INTO a VALUES (1)")

        private func applied(_ migrations: Migration...) -> [MigrationPlan.Applied] {
            migrations.map { MigrationPlan.Applied(number: $0.number, checksum: $0.checksum) }
        }

        @Test func `The plan has the pending migrations, or a clear error`() throws {
            #expect(try Array(MigrationPlan.pending([one, two], applied: applied(one))) == [two])
            #expect(try MigrationPlan.pending([one, two], applied: applied(one, two)).isEmpty)
            #expect(throws: MigrationError.misnumbered(expected: 1, found: 2)) { try MigrationPlan.check([two]) }
            #expect(throws: MigrationError.misnumbered(expected: 2, found: 1)) { try MigrationPlan.check([one, one]) }
            #expect(try MigrationPlan.pending([one], applied: applied(one, two)).isEmpty, "an older program continues")
            #expect(throws: MigrationError.missing(number: 1)) {
                try MigrationPlan.pending([one, two], applied: applied(two))
            }
            let changed = Migration(number: 1, name: "first", sql: one.sql + " ")
            #expect(throws: MigrationError.changed(number: 1, name: "first")) {
                try MigrationPlan.pending([changed], applied: applied(one))
            }
            // What a newer program has recorded: which programs run on the tables.
            func newer(_ oldest: MinorVersion?) -> [MigrationPlan.Applied] {
                applied(one) + [MigrationPlan.Applied(number: 2, checksum: "", oldestProgram: oldest)]
            }
            #expect(try MigrationPlan.pending([one], applied: newer(.current)).isEmpty)
            #expect(try MigrationPlan.pending([one], applied: newer(nil)).isEmpty)
            #expect(throws: MigrationError.tooNew(oldest: MinorVersion(99, 0))) {
                try MigrationPlan.pending([one], applied: newer(MinorVersion(99, 0)))
            }
        }

        @Test
        func `Concurrent runners apply each migration once, and later runs only new ones`() async throws {
            let database = try await TestDatabase.fresh()
            let migrator = Migrator(PostgresConfiguration(database))
            let runs = try await withThrowingTaskGroup(of: [Int].self) { group in
                for _ in 0..<5 {
                    group.addTask { [one, two] in try await migrator.run([one, two], schema: "app").applied }
                }
                return try await group.reduce(into: [[Int]]()) { $0.append($1) }
            }
            #expect(runs.flatMap { $0 }.sorted() == [1, 2])
            let count = try database.cluster.runSQL("SELECT count(*) FROM app.a;", database: database.database)
            #expect(count == "1")
            let three = Migration(number: 3, name: "third", sql: "DROP TABLE b")
            #expect(try await migrator.run([one, two, three], schema: "app").applied == [3])
            let older = try await migrator.run([one, two], schema: "app")
            #expect(older == MigrationOutcome(applied: [], newerNumber: 3))
            let edited = Migration(number: 2, name: "it's second", sql: "INSERT INTO a VALUES (2)")
            let changed = await migrationError { try await migrator.run([one, edited, three], schema: "app") }
            #expect(changed == .changed(number: 2, name: "it's second"))
        }

        @Test(arguments: PostgresEngine.allCases)
        func `A migration for one engine is recorded by all, and run by that one`(engine: PostgresEngine) async throws {
            let database = try await TestDatabase.fresh()
            var configuration = PostgresConfiguration(database)
            configuration.engine = engine
            let only = Migration(
                number: 2,
                name: "for one",
                only: .distributed,
                sql: "INSERT INTO a VALUES (1)",
                release: .first
            )
            #expect(try await Migrator(configuration).run([one, only], schema: "app").applied == [1, 2])
            let count = try database.cluster.runSQL("SELECT count(*) FROM app.a;", database: database.database)
            #expect(count == (engine == .distributed ? "1" : "0"))
        }

        @Test func `A migration that fails is rolled back, and earlier ones stay`() async throws {
            let database = try await TestDatabase.fresh()
            let migrator = Migrator(PostgresConfiguration(database))
            let broken = Migration(number: 2, name: "broken", sql: "CREATE TABLE c (n int); SELECT * FROM nothing;")
            do {
                try await migrator.run([one, broken], schema: "app")
                Issue.record("no error")
            } catch {
                guard case .failed(2, "broken", let fault) = error else { throw error }
                #expect(fault.state == .undefinedTable)
            }
            let tables = try database.cluster.runSQL(
                "SELECT string_agg(tablename, ',' ORDER BY tablename) FROM pg_tables WHERE schemaname = 'app';",
                database: database.database
            )
            #expect(tables == "a,b,schema_migrations")
            #expect(try await migrator.run([one, two], schema: "app").applied == [2])
        }

        @Test(arguments: [
            "CREATE TABLE c (n int); COMMIT;", "CREATE TABLE c (n int); COMMIT; BEGIN; CREATE TABLE d (n int);",
        ]
        )
        func `A migration that ends its transaction is refused`(_ sql: String) async throws {
            let database = try await TestDatabase.fresh()
            let migration = Migration(number: 1, name: "greedy", sql: sql)
            let error = await migrationError {
                try await Migrator(PostgresConfiguration(database)).run([migration], schema: "app")
            }
            #expect(error == .endedTransaction(number: 1))
        }

        @Test func `A migration that meets a lock lets other statements pass, and is applied afterwards`()
            async throws
        {
            let database = try await TestDatabase.fresh()
            let migrator = migrator(database, lockTimeout: .milliseconds(200))
            try await migrator.run([one], schema: "app")
            try await withClient(database) { client in
                let altering = Migration(number: 2, name: "column", sql: "ALTER TABLE a ADD COLUMN m int")
                let (released, release) = AsyncStream.makeStream(of: Void.self)
                let (locked, lock) = AsyncStream.makeStream(of: Void.self)
                async let holder: Void = client.withTransaction(deadline: .after(.seconds(60))) { transaction in
                    try await transaction.query("SELECT count(*) FROM app.a")
                    lock.finish()
                    for await _ in released {}
                }
                for await _ in locked {}
                async let applied = migrator.run([one, altering], schema: "app").applied
                // While it waits for the lock it blocks others; but it gives up, again and again.
                for _ in 0..<3 {
                    try await waiting(for: "ALTER TABLE", on: client)
                    _ = try await client.query("SELECT count(*) FROM app.a", deadline: .after(.seconds(20)))
                }
                release.finish()
                try await holder
                #expect(try await applied == [2])

                let hurried = self.migrator(
                    database,
                    lockTimeout: .milliseconds(200),
                    patience: .milliseconds(900)
                )
                let dropping = Migration(number: 3, name: "drop", sql: "ALTER TABLE a DROP COLUMN m")
                let never = await client.holding("app.a") { [one] in
                    await migrationError { try await hurried.run([one, altering, dropping], schema: "app") }
                }
                guard case .failed(3, "drop", let fault)?? = never else {
                    throw MigrationError.unavailable("no error")
                }
                #expect(fault.state == .lockNotAvailable)
            }
        }

        @Test
        func `An index is created during writes; an interrupted one is dropped and created again`() async throws {
            let database = try await TestDatabase.fresh()
            let migrator = Migrator(PostgresConfiguration(database))
            let index = Migration(number: 3, name: "index", concurrentIndex: "a_n", on: "a (n)", isUnique: true)
            let doubled = Migration(number: 2, name: "rows", sql: "INSERT INTO a VALUES (1), (1), (2)")
            let failed = await migrationError { try await migrator.run([one, doubled, index], schema: "app") }
            guard case .failed(3, "index", let fault) = failed else { throw failed ?? .unavailable("no error") }
            #expect(fault.state == .uniqueViolation)
            let validity = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('app.a_n');"
            // The state that PostgreSQL leaves.
            #expect(try database.cluster.runSQL(validity, database: database.database) == "f")
            try database.cluster.runSQL("DELETE FROM app.a WHERE n = 1;", database: database.database)
            // Several at once, each of which tries the lock while the index waits for blocking transactions.
            let runs = try await withThrowingTaskGroup(of: [Int].self) { group in
                for _ in 0..<4 {
                    group.addTask { [one] in try await migrator.run([one, doubled, index], schema: "app").applied }
                }
                return try await group.reduce(into: [[Int]]()) { $0.append($1) }
            }
            #expect(runs.flatMap { $0 } == [3])
            #expect(try database.cluster.runSQL(validity, database: database.database) == "t")
            let odd = Migration(number: 1, name: "odd", concurrentIndex: "a; b", on: "a (n)")
            #expect(throws: MigrationError.invalidIndex("a; b")) { try MigrationPlan.check([odd]) }
        }

        @Test func `A constraint added as not valid is validated later, during reads and writes`() async throws {
            let database = try await TestDatabase.fresh()
            let migrator = migrator(database, lockTimeout: .milliseconds(200))
            let rows = Migration(number: 2, name: "rows", sql: "INSERT INTO a VALUES (1), (-2)")
            let checks = Migration(
                number: 3,
                name: "checks",
                sql: """
                    ALTER TABLE a ADD CONSTRAINT a_small CHECK (n < 10) NOT VALID;
                    ALTER TABLE a ADD CONSTRAINT a_positive CHECK (n > 0) NOT VALID;
                    """
            )
            func valid() throws -> String {
                try database.cluster.runSQL(
                    "SELECT string_agg(conname, ',' ORDER BY conname) FROM pg_constraint WHERE conrelid = 'app.a'::regclass AND convalidated;",
                    database: database.database
                )
            }
            // Rows that violate it don't prevent a start.
            let first = try await migrator.run([one, rows, checks], schema: "app")
            #expect(first.applied == [1, 2, 3])
            #expect(first.validated == ["app.a a_small"])
            #expect(first.notValidated == ["app.a a_positive (23514)"])
            #expect(try valid() == "a_small")
            try database.cluster.runSQL("DELETE FROM app.a WHERE n < 0;", database: database.database)
            try await withClient(database) { client in
                // Neither does a lock.
                let locked = try await client.withTransaction(deadline: .after(.seconds(60))) { transaction in
                    try await transaction.query("LOCK TABLE app.a IN SHARE UPDATE EXCLUSIVE MODE")
                    return try await migrator.run([one, rows, checks], schema: "app")
                }
                #expect(locked.notValidated == ["app.a a_positive (55P03)"])
                // A transaction that reads and writes is not blocked.
                let done = try await client.withTransaction(deadline: .after(.seconds(60))) { transaction in
                    try await transaction.query("SELECT count(*) FROM app.a")
                    try await transaction.execute("INSERT INTO app.a VALUES (3)")
                    return try await migrator.run([one, rows, checks], schema: "app")
                }
                #expect(done.validated == ["app.a a_positive"] && done.notValidated.isEmpty)
            }
            #expect(try valid() == "a_positive,a_small")
            #expect(
                try await migrator.run([one, rows, checks], schema: "app")
                    == MigrationOutcome(applied: [], newerNumber: nil)
            )
        }

        @Test func `Another program that migrates for too long is an error`() async throws {
            let database = try await TestDatabase.fresh()
            let migrator = migrator(database, patience: .milliseconds(200))
            let slow = Migration(number: 1, name: "slow", sql: "SELECT pg_sleep(3)")
            async let first = migrator.run([slow], schema: "app")
            try await withClient(database) { client in try await waiting(for: "SELECT pg_sleep", on: client) }
            let second = await migrationError { try await migrator.run([slow], schema: "app") }
            #expect(second == .busy)
            #expect(try await first.applied == [1])
        }

        @Test
        func `A check accepts a schema that is recent enough, and reports an old, changed or missing one`()
            async throws
        {
            let database = try await TestDatabase.fresh()
            let migrator = Migrator(PostgresConfiguration(database))
            try await withClient(database) { client in
                func problem(_ migrations: Migration..., schema: String = "app") async -> MigrationError? {
                    await migrationError { try await SchemaCheck(migrations, schema: schema).run(on: client) }
                }
                #expect(await problem(one, two) == .behind(number: 1, name: "first"))
                #expect(await problem(one, schema: "no_such_schema") == .behind(number: 1, name: "first"))
                try await migrator.run([one], schema: "app")
                #expect(await problem(one) == nil)
                #expect(await problem(one, two) == .behind(number: 2, name: "it's second"))
                let edited = Migration(number: 1, name: "first", sql: one.sql + " ")
                #expect(await problem(edited) == .changed(number: 1, name: "first"))
                try await migrator.run([one, two], schema: "app")
                #expect(await problem(one) == nil, "a newer schema will do")
                #expect(await problem(one, schema: "a; b") == .invalidSchema("a; b"))
            }
        }

        private func migrator(
            _ database: TestDatabase,
            lockTimeout: Duration = .seconds(3),
            patience: Duration = .seconds(60)
        ) -> Migrator {
            var migrator = Migrator(PostgresConfiguration(database))
            (migrator.lockTimeout, migrator.patience) = (lockTimeout, patience)
            return migrator
        }

        /// Waits until a statement with this beginning runs in the database.
        private func waiting(for text: String, on client: PostgresClient) async throws {
            try await eventually("\(text) runs") {
                try await !client.query(
                    """
                    SELECT 1 FROM pg_stat_activity
                    WHERE datname = current_database() AND state = 'active' AND query LIKE \(text + "%")
                    """
                ).isEmpty
            }
        }

        @Test
        func `A missing database, a schema with an invalid name and a foreign schema are clear errors`() async throws {
            let database = try await TestDatabase.fresh()
            var configuration = PostgresConfiguration(database)
            let migrator = Migrator(configuration)
            #expect(
                await migrationError { try await migrator.run([one], schema: "app; x") } == .invalidSchema("app; x")
            )
            let foreign = await migrationError { try await migrator.run([one], schema: "public") }
            guard case .failed(0, _, let fault) = foreign else { throw foreign ?? .unavailable("no error") }
            #expect(fault.state == .insufficientPrivilege)
            configuration.host = "/tmp/there-is-no-such-folder"
            do {
                try await Migrator(configuration).run([one], schema: "app")
                Issue.record("no error")
            } catch {
                guard case .unavailable = error else { throw error }
            }
        }
    }
}

/// A client on an existing database.
private func withClient<R>(_ database: TestDatabase, _ body: (PostgresClient) async throws -> R) async throws -> R {
    let group = try EventLoopGroup(loopCount: 1, name: "test")
    let client = PostgresClient(PostgresConfiguration(database), group: group)
    let result: Result<R, any Error>
    do { result = .success(try await body(client)) } catch { result = .failure(error) }
    await client.shutdown()
    await group.shutdown()
    return try result.get()
}

extension PostgresClient {
    /// Runs a body while a transaction has read a table, and so blocks changes of its definition.
    fileprivate func holding<R: Sendable>(_ table: String, _ body: @Sendable () async -> R) async -> R? {
        try? await withTransaction(deadline: .after(.seconds(60))) { transaction in
            try await transaction.query(Query(unsafeSQL: "SELECT count(*) FROM \(table)"))
            return await body()
        }
    }
}
