import Dispatch
import Glibc
import RPC

/// What a migrator did, and found.
public struct MigrationOutcome: Sendable, Hashable {
    /// An outcome.
    init(applied: [Int], validated: [String] = [], notValidated: [String] = [], newerNumber: Int?) {
        self.applied = applied
        self.validated = validated
        self.notValidated = notValidated
        self.newerNumber = newerNumber
    }

    /// The numbers of the migrations that it applied.
    public let applied: [Int]
    /// Constraints that were added without a look at the rows (`NOT VALID`), and that all rows have been found to satisfy now.
    public let validated: [String]
    /// Those that couldn't be validated, each with the reason, and are tried again at the next run.
    public let notValidated: [String]
    /// The last migration of the schema that this older program doesn't know; nil if it knows all.
    public let newerNumber: Int?
}

/// Brings a schema up to date: forward only, one transaction a migration, under a lock that lets one program at a time
/// do it. What was applied is in `<schema>.schema_migrations` with a checksum.
///
/// A statement that waits for a lock on a table holds up everybody who comes after it. So it waits a few seconds only;
/// then the migration is undone, others get their turn, and it is tried again.
///
/// A constraint that looks at all rows of a large table holds up everybody, too. So migrations add it `NOT VALID`, and what is so is validated
/// behind them, which reads the table while others read and write it. A constraint that meets a lock, or rows that break it, keeps nobody
/// from starting: it is reported, and tried again by the next run.
public struct Migrator: Sendable {
    let configuration: PostgresConfiguration
    /// How long a statement of a migration waits for a lock at most.
    public var lockTimeout: Duration = .seconds(3)
    /// How long a migration that met locks is tried again, and how long another program's migrating is waited for.
    public var patience: Duration = .seconds(60)

    /// The wait before a migration is tried again.
    private static let backoff = Backoff(first: .milliseconds(500), max: .seconds(5))
    /// How often it is looked whether another program has ended.
    private static let pollInterval: Duration = .milliseconds(50)

    /// A migrator that connects as this configuration says.
    public init(_ configuration: PostgresConfiguration) { self.configuration = configuration }

    /// Applies what is missing.
    ///
    /// Uses a connection and a thread of its own, so that nothing here holds up an event loop. Several programs may
    /// call it at once: each migration is applied by one of them. The schema is made if it isn't there.
    @discardableResult
    public func run(_ migrations: [Migration], schema: String) async throws(MigrationError) -> MigrationOutcome {
        try MigrationPlan.check(migrations)
        guard MigrationPlan.isPlain(schema) else { throw .invalidSchema(schema) }
        let outcome: Result<MigrationOutcome, MigrationError> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let outcome = Result { () throws(MigrationError) in try apply(migrations, schema: schema) }
                continuation.resume(returning: outcome)
            }
        }
        return try outcome.get()
    }

    private func apply(_ migrations: [Migration], schema: String) throws(MigrationError) -> MigrationOutcome {
        let session = try BlockingSession(configuration)
        try lock(schema, session)
        var applied: [MigrationPlan.Applied] = []
        try step(0) { () throws(BlockingSession.Failure) in
            try createTable(session, schema)
            applied = try Self.applied(session, schema)
        }
        var done: [Int] = []
        for migration in try MigrationPlan.pending(migrations, applied: applied) {
            try apply(migration, schema: schema, session)
            done.append(migration.number)
        }
        let newest = applied.last.map(\.number) ?? 0
        let (validated, notValidated) = try validate(schema, session)
        return MigrationOutcome(
            applied: done,
            validated: validated,
            notValidated: notValidated,
            newerNumber: newest > migrations.count ? newest : nil
        )
    }

    /// Validates the constraints of a schema that migrations added without a look at the rows, each in a transaction of its own. It takes a
    /// lock that others who read and write don't meet, for as long as the table is read.
    ///
    /// The lock of migrations is given back before, since another program waits for it no longer than for `patience`. A role that doesn't own a
    /// table leaves its constraints to the owner.
    private func validate(
        _ schema: String,
        _ session: BlockingSession
    ) throws(MigrationError) -> (validated: [String], notValidated: [String]) {
        var constraints: [[String]] = []
        try step(0) { () throws(BlockingSession.Failure) in
            constraints = try session.run(
                """
                SELECT pg_advisory_unlock(\(Self.lockKey(schema)));
                SELECT format('%I', c.conname), format('\(schema).%I', t.relname) FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
                WHERE c.connamespace = '\(schema)'::regnamespace AND NOT c.convalidated AND c.contype IN ('c', 'f')
                    AND t.relkind = 'r' AND pg_has_role(t.relowner, 'USAGE')
                ORDER BY 2, 1
                """
            )
            try session.run("SET lock_timeout = \(lockTimeout.wholeMilliseconds)")
        }
        var (validated, notValidated): ([String], [String]) = ([], [])
        for constraint in constraints {
            let (name, table) = (constraint[0], constraint[1])
            do throws(BlockingSession.Failure) {
                try session.run("ALTER TABLE \(table) VALIDATE CONSTRAINT \(name)")
                validated.append("\(table) \(name)")
            } catch {
                switch error {
                // The state alone: the server's words may show a row.
                case .server(let fault): notValidated.append("\(table) \(name) (\(fault.state))")
                case .lost(let reason): throw .unavailable(reason)
                }
            }
        }
        return (validated, notValidated)
    }

    /// The migrations that were applied to a schema.
    static func applied(
        _ session: BlockingSession,
        _ schema: String
    ) throws(BlockingSession.Failure) -> [MigrationPlan.Applied] {
        let columns = MigrationPlan.columns(of: "schema_migrations")
        let rows = try session.run("SELECT \(columns) FROM \(schema).schema_migrations ORDER BY number")
        return rows.map {
            MigrationPlan.Applied(number: Int($0[0]) ?? 0, checksum: $0[1], oldestProgram: MinorVersion($0[2]))
        }
    }

    private static func lockKey(_ schema: String) -> String {
        "hashtextextended('vestibule.schema_migrations.\(schema)', 0)"
    }

    /// Takes the lock that one program at a time holds; it ends with the session, however that ends.
    ///
    /// Polled, not waited for: a statement that waits holds a snapshot, and an index that is made concurrently would wait for the end of
    /// that snapshot.
    private func lock(_ schema: String, _ session: BlockingSession) throws(MigrationError) {
        let limit = ContinuousClock.now + patience
        var isLocked = false
        try step(0) { () throws(BlockingSession.Failure) in try session.run("SET statement_timeout = 0") }
        while true {
            try step(0) { () throws(BlockingSession.Failure) in
                isLocked = try session.run("SELECT pg_try_advisory_lock(\(Self.lockKey(schema)))") == [["t"]]
            }
            if isLocked { return }
            guard ContinuousClock.now < limit else { throw .busy }
            Self.sleep(Self.pollInterval)
        }
    }

    /// `IF NOT EXISTS` alone would ask for the right to create schemas and tables, which the role of a service that has
    /// nothing left to migrate doesn't have.
    private func createTable(_ session: BlockingSession, _ schema: String) throws(BlockingSession.Failure) {
        if try session.run("SELECT 1 FROM pg_namespace WHERE nspname = '\(schema)'").isEmpty {
            try session.run("CREATE SCHEMA \(schema)")
        }
        let name = "\(schema).schema_migrations"
        guard try session.run("SELECT to_regclass('\(name)')") == [[""]] else {
            // A table that a program of 0.9 has made lacks the last column. Only the owner may add it.
            let lacksColumn = try session.run(
                """
                SELECT 1 FROM pg_class WHERE oid = '\(name)'::regclass AND pg_has_role(relowner, 'USAGE')
                    AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = '\(name)'::regclass AND attname = 'oldest_program')
                """
            )
            if !lacksColumn.isEmpty { try session.run("ALTER TABLE \(name) ADD COLUMN oldest_program text") }
            return
        }
        try session.run(
            """
            CREATE TABLE IF NOT EXISTS \(name) (
                number integer PRIMARY KEY,
                name text NOT NULL,
                checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now(),
                -- The oldest minor version whose programs run on the tables after it.
                oldest_program text
            );
            DO $$ DECLARE reader name; BEGIN
                -- By default privileges the service's role may do here what it may do with every table.
                FOR reader IN
                    SELECT DISTINCT grantee::regrole FROM pg_class, aclexplode(relacl)
                    WHERE pg_class.oid = '\(name)'::regclass AND grantee NOT IN (0, relowner)
                LOOP EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON \(name) FROM %I', reader); END LOOP;
            END $$
            """
        )
    }

    /// Applies one migration, again while it meets locks and there is time.
    private func apply(
        _ migration: Migration,
        schema: String,
        _ session: BlockingSession
    ) throws(MigrationError) {
        let limit = ContinuousClock.now + patience
        var attempt = 0
        while true {
            attempt += 1
            do throws(MigrationError) {
                if migration.concurrentIndex == nil {
                    return try applyInTransaction(migration, schema: schema, session)
                }
                return try applyConcurrently(migration, schema: schema, session)
            } catch {
                guard case .failed(_, _, let fault) = error,
                    fault.state == .lockNotAvailable || fault.state == .deadlockDetected
                else { throw error }
                let wait = Self.backoff.wait(failures: attempt, random: .random(in: 0..<1))
                guard ContinuousClock.now + wait < limit else { throw error }
                try step(migration.number, migration.name) { () throws(BlockingSession.Failure) in
                    if !session.isOutsideTransaction { try session.run("ROLLBACK") }
                }
                Self.sleep(wait)
            }
        }
    }

    private func applyInTransaction(
        _ migration: Migration,
        schema: String,
        _ session: BlockingSession
    ) throws(MigrationError) {
        var stayedOpen = true
        try step(migration.number, migration.name) { () throws(BlockingSession.Failure) in
            try session.run(
                "BEGIN; SET LOCAL search_path = \(schema); SET LOCAL lock_timeout = \(lockTimeout.wholeMilliseconds)"
            )
            let transaction = try session.run("SELECT pg_current_xact_id()").first
            if migration.engine == nil || migration.engine == configuration.engine { try session.run(migration.sql) }
            // A COMMIT in the text would leave half a migration behind when the rest fails.
            guard session.isInTransaction, try session.run("SELECT pg_current_xact_id()").first == transaction else {
                stayedOpen = false
                try session.run("ROLLBACK")
                return
            }
            try session.run(record(migration, schema, session) + "; COMMIT")
        }
        guard stayedOpen else { throw .endedTransaction(number: migration.number) }
    }

    /// Each statement alone, since what is sent together is a transaction. What an earlier try has left is removed; a
    /// whole index that isn't in the records, because the program ended just then, is made again, which is rare.
    private func applyConcurrently(
        _ migration: Migration,
        schema: String,
        _ session: BlockingSession
    ) throws(MigrationError) {
        guard let index = migration.concurrentIndex else { return }
        try step(migration.number, migration.name) { () throws(BlockingSession.Failure) in
            // It waits for transactions that began before it and holds up nobody meanwhile, so it may wait longer.
            try session.run("SET lock_timeout = \(patience.wholeMilliseconds)")
            try session.run("SET search_path = \(schema)")
            try session.run("DROP INDEX CONCURRENTLY IF EXISTS \(schema).\(index)")
            try session.run(migration.sql)
            try session.run(record(migration, schema, session))
            try session.run("RESET search_path")
        }
    }

    private func record(_ migration: Migration, _ schema: String, _ session: BlockingSession) -> String {
        """
        INSERT INTO \(schema).schema_migrations (number, name, checksum, oldest_program)
        VALUES (\(migration.number), \(session.quoted(migration.name)), '\(migration.checksum)', '\(migration.release.predecessor)')
        """
    }

    func step(
        _ number: Int,
        _ name: String = "",
        _ body: () throws(BlockingSession.Failure) -> Void
    ) throws(MigrationError) {
        do {
            try body()
        } catch {
            switch error {
            case .server(let fault): throw .failed(number: number, name: name, fault)
            case .lost(let reason): throw .unavailable(reason)
            }
        }
    }

    /// On a thread of its own: see `run`.
    private static func sleep(_ time: Duration) { usleep(UInt32(clamping: time.wholeMilliseconds * 1000)) }
}
