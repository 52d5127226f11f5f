import Dispatch

/// Brings a schema up to date: forward only, one transaction a migration, under a lock that lets one program at a time
/// do it. What was applied is in `<schema>.schema_migrations` with a checksum.
public struct Migrator: Sendable {
    private let configuration: PostgresConfiguration
    /// How long to wait for the lock, and for any lock that a migration's statement needs.
    public var lockTimeout: Duration = .seconds(60)

    /// A migrator that connects as this configuration says.
    public init(_ configuration: PostgresConfiguration) { self.configuration = configuration }

    /// Applies what is missing and returns its numbers.
    ///
    /// Uses a connection and a thread of its own, so that nothing here holds up an event loop. Several programs may
    /// call it at once: each migration is applied by one of them. The schema is made if it isn't there.
    @discardableResult
    public func run(_ migrations: [Migration], schema: String) async throws(MigrationError) -> [Int] {
        try MigrationPlan.check(migrations)
        guard Self.isPlain(schema) else { throw .invalidSchema(schema) }
        let outcome: Result<[Int], MigrationError> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let outcome = Result { () throws(MigrationError) in try apply(migrations, schema: schema) }
                continuation.resume(returning: outcome)
            }
        }
        return try outcome.get()
    }

    private func apply(_ migrations: [Migration], schema: String) throws(MigrationError) -> [Int] {
        let session = try BlockingSession(configuration)
        let milliseconds = lockTimeout.wholeMilliseconds
        try step(0) { () throws(BlockingSession.Failure) in
            try session.run("SET statement_timeout = 0; SET lock_timeout = \(milliseconds)")
            // The session holds it, and so loses it when it ends, however it ends.
            try session.run("SELECT pg_advisory_lock(hashtextextended('vestibule.schema_migrations.\(schema)', 0))")
            try createTable(session, schema)
        }
        var applied: [MigrationPlan.Applied] = []
        try step(0) { () throws(BlockingSession.Failure) in
            let rows = try session.run("SELECT number, checksum FROM \(schema).schema_migrations ORDER BY number")
            applied = rows.map { MigrationPlan.Applied(number: Int($0[0]) ?? 0, checksum: $0[1]) }
        }
        var done: [Int] = []
        for migration in try MigrationPlan.pending(migrations, applied: applied) {
            try apply(migration, schema: schema, session)
            done.append(migration.number)
        }
        return done
    }

    /// `IF NOT EXISTS` alone would ask for the right to create schemas, which a service's role doesn't have.
    private func createTable(_ session: BlockingSession, _ schema: String) throws(BlockingSession.Failure) {
        if try session.run("SELECT 1 FROM pg_namespace WHERE nspname = '\(schema)'").isEmpty {
            try session.run("CREATE SCHEMA \(schema)")
        }
        try session.run(
            """
            CREATE TABLE IF NOT EXISTS \(schema).schema_migrations (
                number integer PRIMARY KEY,
                name text NOT NULL,
                checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now()
            )
            """
        )
    }

    private func apply(
        _ migration: Migration,
        schema: String,
        _ session: BlockingSession
    ) throws(MigrationError) {
        let name = session.quoted(migration.name)
        var stayedOpen = true
        try step(migration.number, migration.name) { () throws(BlockingSession.Failure) in
            try session.run("BEGIN; SET LOCAL search_path = \(schema)")
            let transaction = try session.run("SELECT pg_current_xact_id()").first
            try session.run(migration.sql)
            // A COMMIT in the text would leave half a migration behind when the rest fails.
            guard session.isInTransaction, try session.run("SELECT pg_current_xact_id()").first == transaction else {
                stayedOpen = false
                try session.run("ROLLBACK")
                return
            }
            try session.run(
                """
                INSERT INTO \(schema).schema_migrations (number, name, checksum)
                VALUES (\(migration.number), \(name), '\(migration.checksum)'); COMMIT
                """
            )
        }
        guard stayedOpen else { throw .endedTransaction(number: migration.number) }
    }

    private func step(
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

    private static func isPlain(_ name: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= 63 else { return false }
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == 0x5F }
        return !isDigit(first) && name.utf8.allSatisfy { isLetter($0) || isDigit($0) }
    }
}
