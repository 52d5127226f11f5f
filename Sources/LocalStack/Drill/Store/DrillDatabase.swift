import LocalPostgres

/// What a drill asks its database, as superuser.
struct DrillDatabase: Sendable {
    /// The table of the marker row, by which a drill knows that it made a database.
    private static let table = "public.vestibule_drill"

    let cluster: LocalCluster

    /// Adds the marker row.
    func mark(_ id: String) throws {
        try run("CREATE TABLE \(Self.table) (id uuid PRIMARY KEY); INSERT INTO \(Self.table) VALUES ('\(id)')")
    }

    /// Whether the database has that marker row.
    func isMarked(_ id: String) throws -> Bool {
        guard try run("SELECT to_regclass('\(Self.table)') IS NOT NULL") == "t" else { return false }
        return try run("SELECT id FROM \(Self.table)") == id
    }

    /// How many accounts there are.
    func accountCount() throws -> Int { Int(try run("SELECT count(*) FROM identity.accounts")) ?? 0 }

    @discardableResult
    private func run(_ sql: String) throws -> String { try cluster.runSQL(sql, database: StackPlan.databaseName) }
}
