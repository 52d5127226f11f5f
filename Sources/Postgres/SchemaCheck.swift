import RPC

/// Asks whether a schema has every migration that a program needs, with the text that the program knows.
public struct SchemaCheck: Sendable {
    private let migrations: [Migration]
    private let schema: String

    /// A check of a schema against a program's migrations.
    public init(_ migrations: [Migration], schema: String) {
        self.migrations = migrations
        self.schema = schema
    }

    /// Returns if the program can work with the schema, which may be newer than the program. One round trip.
    ///
    /// - Throws: `MigrationError` that says what is wrong with the schema; `PostgresError` if it can't be asked.
    public func run(on client: PostgresClient, deadline: Deadline? = nil) async throws {
        try MigrationPlan.check(migrations)
        guard let first = migrations.first else { return }
        guard MigrationPlan.isPlain(schema) else { throw MigrationError.invalidSchema(schema) }
        let applied: [MigrationPlan.Applied]
        do {
            let rows = try await client.query(
                "SELECT \(unsafeSQL: MigrationPlan.columns(of: "schema_migrations")) FROM \(unsafeSQL: schema).schema_migrations ORDER BY number",
                deadline: deadline
            )
            applied = try rows.map { row in
                let (number, checksum, oldest) = try row.decode(Int32.self, String.self, String.self)
                return MigrationPlan.Applied(
                    number: Int(number),
                    checksum: checksum,
                    oldestProgram: MinorVersion(oldest)
                )
            }
        } catch let error as PostgresError where error.sqlState == .undefinedTable {
            throw MigrationError.behind(number: first.number, name: first.name)
        }
        if let pending = try MigrationPlan.pending(migrations, applied: applied).first {
            throw MigrationError.behind(number: pending.number, name: pending.name)
        }
    }
}
