import LocalPostgres
import Testing

@testable import Postgres

extension ServerTests {
    @Suite("Migrations")
    struct MigrationTests {
        private let one = Migration(number: 1, name: "first", sql: "CREATE TABLE a (n int); CREATE TABLE b (n int);")
        private let two = Migration(number: 2, name: "it's second", sql: "INSERT INTO a VALUES (1)")

        private func applied(_ migrations: Migration...) -> [MigrationPlan.Applied] {
            migrations.map { MigrationPlan.Applied(number: $0.number, checksum: $0.checksum) }
        }

        @Test("the plan is what is not applied yet, or a clear error")
        func plan() throws {
            #expect(try Array(MigrationPlan.pending([one, two], applied: applied(one))) == [two])
            #expect(try MigrationPlan.pending([one, two], applied: applied(one, two)).isEmpty)
            #expect(throws: MigrationError.misnumbered(expected: 1, found: 2)) { try MigrationPlan.check([two]) }
            #expect(throws: MigrationError.misnumbered(expected: 2, found: 1)) { try MigrationPlan.check([one, one]) }
            #expect(throws: MigrationError.databaseIsNewer(number: 2)) {
                try MigrationPlan.pending([one], applied: applied(one, two))
            }
            #expect(throws: MigrationError.missing(number: 1)) {
                try MigrationPlan.pending([one, two], applied: applied(two))
            }
            let changed = Migration(number: 1, name: "first", sql: one.sql + " ")
            #expect(throws: MigrationError.changed(number: 1, name: "first")) {
                try MigrationPlan.pending([changed], applied: applied(one))
            }
        }

        @Test("runners at the same time apply each migration once, and later runs only what is new")
        func concurrent() async throws {
            let database = try SharedTestCluster.freshDatabase()
            let migrator = Migrator(PostgresConfiguration(database))
            let runs = try await withThrowingTaskGroup(of: [Int].self) { group in
                for _ in 0..<5 { group.addTask { [one, two] in try await migrator.run([one, two], schema: "app") } }
                return try await group.reduce(into: [[Int]]()) { $0.append($1) }
            }
            #expect(runs.flatMap { $0 }.sorted() == [1, 2])
            let count = try database.cluster.runSQL("SELECT count(*) FROM app.a;", database: database.database)
            #expect(count == "1")
            let three = Migration(number: 3, name: "third", sql: "DROP TABLE b")
            #expect(try await migrator.run([one, two, three], schema: "app") == [3])
            let older = await migrationError { try await migrator.run([one, two], schema: "app") }
            #expect(older == .databaseIsNewer(number: 3))
            let edited = Migration(number: 2, name: "it's second", sql: "INSERT INTO a VALUES (2)")
            let changed = await migrationError { try await migrator.run([one, edited, three], schema: "app") }
            #expect(changed == .changed(number: 2, name: "it's second"))
        }

        @Test("one that fails is undone whole, those before it stay")
        func failure() async throws {
            let database = try SharedTestCluster.freshDatabase()
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
            #expect(try await migrator.run([one, two], schema: "app") == [2])
        }

        @Test(
            "one that ends its transaction is refused",
            arguments: [
                "CREATE TABLE c (n int); COMMIT;", "CREATE TABLE c (n int); COMMIT; BEGIN; CREATE TABLE d (n int);",
            ]
        )
        func ownTransaction(_ sql: String) async throws {
            let database = try SharedTestCluster.freshDatabase()
            let migration = Migration(number: 1, name: "greedy", sql: sql)
            let error = await migrationError {
                try await Migrator(PostgresConfiguration(database)).run([migration], schema: "app")
            }
            #expect(error == .endedTransaction(number: 1))
        }

        @Test("a database that isn't there, a schema's odd name and a foreign schema are clear errors")
        func refused() async throws {
            let database = try SharedTestCluster.freshDatabase()
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
