import LocalPostgres
import Postgres

extension TestDatabase {
    /// Gives a test a database whose schema has had these migrations, and drops it afterwards. It is a copy of a template, which is
    /// migrated once in the process.
    public static func withMigrated<R>(
        _ migrations: [Migration],
        schema: String,
        hasOwner: Bool = true,
        _ body: (TestDatabase) async throws -> R
    ) async throws -> R {
        let template = try await Templates.shared.template(
            .init(migrations: migrations, schema: schema, hasOwner: hasOwner)
        )
        let database = try await offExecutor { try template.copy(number: SharedTestCluster.nextDatabase().number) }
        return try await database.use(body)
    }
}

/// The migrated databases of the process that tests get copies of.
private actor Templates {
    struct Key: Hashable {
        let migrations: [Migration]
        let schema: String
        let hasOwner: Bool
    }

    static let shared = Templates()

    private var made: [Key: Task<TestDatabase, any Error>] = [:]

    func template(_ key: Key) async throws -> TestDatabase {
        let task =
            made[key]
            ?? Task {
                let database = try await TestDatabase.fresh(schema: key.schema, hasOwner: key.hasOwner)
                try await Migrator(database.ownerConfiguration).run(key.migrations, schema: key.schema)
                return database
            }
        made[key] = task
        return try await task.value
    }
}
