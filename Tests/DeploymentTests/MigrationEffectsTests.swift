import Foundation
import IdentityService
import InvitesService
import Postgres
import ProfileService
import TestDatabases
import Testing

/// What migrations declare of their locks, and `vestibule upgrade --plan` prints, compared with what PostgreSQL does.
struct MigrationEffectsTests {
    static let schemas = [
        ("identity", IdentityMigrations.all), ("profile", ProfileMigrations.all), ("invites", InvitesMigrations.all),
    ]

    @Test(arguments: schemas)
    func `Each migration takes the locks and does the work that it declares`(
        _ schema: String,
        _ migrations: [Migration]
    ) async throws {
        #expect(migrations[0].effects == [], "no table is there before it")
        // Those of another engine do nothing to the tables of PostgreSQL.
        for (index, migration) in migrations.enumerated().dropFirst() where migration.engine == nil {
            try await TestDatabase.withMigrated(Array(migrations[..<index]), schema: schema) { database in
                let measured = try await MeasuredEffects(of: migration, in: database).effects
                #expect(measured == Set(migration.effects), "migration \(migration.number) (\(migration.name))")
            }
        }
    }

    @Test func `Each kind of work is measured as itself`() async throws {
        let tables = Migration(
            number: 1,
            name: "tables",
            sql: """
                CREATE TABLE a (n int); CREATE TABLE b (n int PRIMARY KEY); INSERT INTO a VALUES (1); INSERT INTO b VALUES (1);
                """
        )
        for (sql, effects) in [
            ("CREATE TABLE c (n int)", []),
            ("ALTER TABLE a ADD COLUMN m int NOT NULL DEFAULT 1", [.altered("a")]),
            ("ALTER TABLE a ADD CHECK (n > 0)", [TableEffect("a", .accessExclusive, .scan)]),
            ("ALTER TABLE a ALTER COLUMN n SET NOT NULL", [TableEffect("a", .accessExclusive, .scan)]),
            ("ALTER TABLE a ALTER COLUMN n TYPE bigint", [TableEffect("a", .accessExclusive, .rewrite)]),
            ("CREATE INDEX ON a (n)", [TableEffect("a", .share, .scan)]),
            ("UPDATE a SET n = 2", [TableEffect("a", .rowExclusive, .rows)]),
            (
                "ALTER TABLE a ADD CONSTRAINT a_b FOREIGN KEY (n) REFERENCES b NOT VALID",
                [
                    TableEffect("a", .shareRowExclusive, .catalog), TableEffect("b", .shareRowExclusive, .catalog),
                    .validated("a"),
                ]
            ),
        ] as [(String, Set<TableEffect>)] {
            try await TestDatabase.withMigrated([tables], schema: "app", hasOwner: false) { database in
                let migration = Migration(number: 2, name: "two", sql: sql)
                let measured = try await MeasuredEffects(of: migration, in: database).effects
                #expect(measured == effects, "\(sql)")
            }
        }
    }
}

/// The effects of a migration on a database that has had the ones before.
private struct MeasuredEffects {
    let effects: Set<TableEffect>

    init(of migration: Migration, in database: TestDatabase) async throws {
        let session = AdministrativeSession(database.ownerConfiguration)
        // An index that is made concurrently can't be in a transaction. The locks that it takes are PostgreSQL's promise.
        if migration.sql.contains("CONCURRENTLY") {
            let effect = try #require(migration.effects.first)
            try await session.run(migration.sql)
            let valid = try await session.run(
                "SELECT DISTINCT indisvalid FROM pg_index WHERE indrelid = '\(database.schema).\(effect.table)'::regclass"
            )
            effects = valid == [["t"]] ? [TableEffect(effect.table, .shareUpdateExclusive, .concurrentIndex)] : []
            return
        }
        // One script is one transaction, whose locks and counts the last statement reads.
        let rows = try await session.run(
            """
            CREATE TEMP TABLE before ON COMMIT DROP AS SELECT oid, relfilenode AS node FROM pg_class
                WHERE relnamespace = '\(database.schema)'::regnamespace AND relkind = 'r';
            SET LOCAL search_path = \(database.schema);
            \(migration.sql);
            SELECT c.relname, l.mode, c.relfilenode <> b.node, coalesce(s.seq_scan, 0) > 0
            FROM before b JOIN pg_class c USING (oid) JOIN pg_locks l ON l.relation = c.oid AND l.pid = pg_backend_pid()
                LEFT JOIN pg_stat_xact_user_tables s ON s.relid = c.oid
            WHERE l.mode NOT IN ('AccessShareLock', 'RowShareLock')
            """
        )
        var strongest: [String: TableEffect] = [:]
        for row in rows {
            let lock = try #require(TableEffect.Lock.allCases.first { "\($0.word)Lock" == row[1] }, "\(row)")
            let work: TableEffect.Work =
                row[2] == "t" ? .rewrite : lock == .rowExclusive ? .rows : row[3] == "t" ? .scan : .catalog
            let effect = TableEffect(row[0], lock, work)
            if let other = strongest[row[0]], other.lock.strength >= lock.strength { continue }
            strongest[row[0]] = effect
        }
        let unvalidated = try await session.run(
            """
            SELECT DISTINCT t.relname FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
            WHERE c.connamespace = '\(database.schema)'::regnamespace AND NOT c.convalidated
            """
        )
        effects = Set(strongest.values).union(unvalidated.map { .validated($0[0]) })
    }
}

extension TableEffect.Lock {
    /// The name in `pg_locks`, without "Lock".
    fileprivate var word: String { rawValue.split(separator: " ").map(\.capitalized).joined() }

    fileprivate var strength: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
