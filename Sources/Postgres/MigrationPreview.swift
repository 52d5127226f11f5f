import Dispatch

/// What a migrator would do to a schema, and the sizes of its tables.
public struct MigrationPreview: Sendable {
    /// How large a table is.
    public struct TableSize: Sendable, Hashable {
        /// Rows by the planner's statistics; nil if they have not been counted yet.
        public let rows: Int64?
        /// Bytes without indexes.
        public let tableBytes: Int64
        /// Bytes with indexes.
        public let totalBytes: Int64
    }

    /// How many migrations the schema has had.
    public let appliedCount: Int
    /// Those that are to be applied, in order.
    public let pending: [Migration]
    /// Tables with constraints that earlier migrations left to be validated.
    public let notValidated: [String]
    /// The tables of the schema by their names.
    public let sizes: [String: TableSize]
    /// The oldest program that runs on the schema, if this program is older.
    public let oldestProgram: MinorVersion?
}

extension Migrator {
    /// Says what `run` would do, and does nothing of it: it reads the catalog and the records of what was applied, and locks nobody out.
    /// It uses a connection and a thread of its own.
    ///
    /// - Throws: `MigrationError` if the schema doesn't have the history that the program knows, or can't be read.
    public func preview(_ migrations: [Migration], schema: String) async throws(MigrationError) -> MigrationPreview {
        guard MigrationPlan.isPlain(schema) else { throw .invalidSchema(schema) }
        let outcome: Result<MigrationPreview, MigrationError> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { () throws(MigrationError) in try read(migrations, schema: schema) }
                )
            }
        }
        return try outcome.get()
    }

    private func read(_ migrations: [Migration], schema: String) throws(MigrationError) -> MigrationPreview {
        let session = try BlockingSession(configuration)
        var applied: [MigrationPlan.Applied] = []
        var notValidated: [String] = []
        var sizes: [String: MigrationPreview.TableSize] = [:]
        try step(0) { () throws(BlockingSession.Failure) in
            try session.run(
                "SET default_transaction_read_only = on; SET lock_timeout = \(lockTimeout.wholeMilliseconds)"
            )
            guard try session.run("SELECT to_regclass('\(schema).schema_migrations')") != [[""]] else { return }
            applied = try Self.applied(session, schema)
            notValidated = try session.run(
                """
                SELECT DISTINCT t.relname FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
                WHERE c.connamespace = '\(schema)'::regnamespace AND NOT c.convalidated AND c.contype IN ('c', 'f') AND t.relkind = 'r'
                ORDER BY 1
                """
            ).map { $0[0] }
            let rows = try session.run(
                """
                SELECT relname, reltuples::bigint, pg_table_size(oid), pg_total_relation_size(oid) FROM pg_class
                WHERE relnamespace = '\(schema)'::regnamespace AND relkind = 'r'
                """
            )
            for row in rows {
                sizes[row[0]] = .init(
                    rows: Int64(row[1]).flatMap { $0 < 0 ? nil : $0 },
                    tableBytes: Int64(row[2]) ?? 0,
                    totalBytes: Int64(row[3]) ?? 0
                )
            }
        }
        var pending: [Migration] = []
        var oldestProgram: MinorVersion?
        do throws(MigrationError) {
            pending = Array(try MigrationPlan.pending(migrations, applied: applied))
        } catch .tooNew(let oldest) {
            oldestProgram = oldest
        }
        return MigrationPreview(
            appliedCount: applied.count,
            pending: pending,
            notValidated: notValidated,
            sizes: sizes,
            oldestProgram: oldestProgram
        )
    }
}
