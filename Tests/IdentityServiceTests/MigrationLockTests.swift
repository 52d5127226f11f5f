import Postgres
import TestDatabases
import Testing

@testable import IdentityService

/// What migrations keep from those who go on writing meanwhile, the version before among them.
struct MigrationLockTests {
    /// Fails a migration that locks two of the tables that were released against writing, which meets statements that lock them
    /// in the other order, or makes an index while everybody waits. What is asked ends the migration's transaction.
    private static let check = """
        ;
        DO $$ DECLARE tables text; BEGIN
            SELECT string_agg(DISTINCT relname || ' ' || mode, ', ') INTO tables
            FROM pg_locks JOIN pg_class ON pg_class.oid = relation
            WHERE pid = pg_backend_pid() AND relkind = 'r'
                AND relname IN ('accounts', 'provider_identities', 'sessions', 'sign_ins', 'session_epoch')
                AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
            HAVING count(DISTINCT relname) > 1 OR bool_or(mode = 'ShareLock');
            IF tables IS NOT NULL THEN RAISE EXCEPTION 'locks %', tables; END IF;
        END $$
        """

    @Test func `A migration of released tables locks one at a time, and none for an index`() async throws {
        let fresh = try await TestDatabase.fresh(schema: "identity")
        let configuration = fresh.configuration
        let migrations = IdentityMigrations.all.map { migration in
            guard migration.number > 2, !migration.sql.contains("CONCURRENTLY") else { return migration }
            return Migration(number: migration.number, name: migration.name, sql: migration.sql + Self.check)
        }
        let outcome = try await Migrator(configuration).run(migrations, schema: "identity")
        #expect(outcome.applied.count == migrations.count)
    }
}
