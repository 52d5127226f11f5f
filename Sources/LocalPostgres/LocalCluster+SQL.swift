import Foundation

extension LocalCluster {
    /// Runs SQL as superuser through `psql`, up to the first error, and returns the output: rows as lines, columns separated
    /// by `|`. The SQL is passed on standard input, so that process lists don't show it.
    @discardableResult
    public func runSQL(_ sql: String, database: String = "postgres") throws -> String {
        let (status, output) = try ChildProcess.run(
            [
                programs.psql, "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1",
                "--host=\(socketDirectory)", "--port=\(port)", "--username=\(superuser)", "--dbname=\(database)",
                "--no-password", "--file=-",
            ],
            input: sql
        )
        guard status == 0 else {
            throw LocalPostgresError.programFailed(program: "psql", status: status, output: String(output.suffix(600)))
        }
        return output.trimmingCharacters(in: .newlines)
    }

    /// Makes a database if it is missing. Only roles with an explicit grant can connect.
    public func createDatabase(_ name: String) throws {
        let name = try plainIdentifier(name)
        let exists = try runSQL(ServiceRoleSQL.hasDatabase(name))
        if exists.isEmpty { try runSQL(ServiceRoleSQL.createDatabase(name)) }
        try runSQL(
            """
            REVOKE ALL ON DATABASE \(name) FROM PUBLIC;
            REVOKE ALL ON SCHEMA public FROM PUBLIC;
            """,
            database: name
        )
    }

    /// Deletes a database, and ends its connections.
    public func dropDatabase(_ name: String) throws {
        try runSQL("DROP DATABASE IF EXISTS \(try plainIdentifier(name)) WITH (FORCE);")
    }

    /// Makes or updates a login role that owns one schema of a database and has no rights on others.
    ///
    /// The password is set each time, and checked with SCRAM-SHA-256.
    public func createServiceRole(name: String, password: String, schema: String, database: String) throws {
        try runSQL(
            ServiceRoleSQL.role(name, password: password, schema: schema, database: database),
            database: database
        )
    }

    /// Like `createServiceRole`, with a separate role for migrations, which owns the schema.
    public func createServiceRoles(
        name: String,
        password: String,
        owner: String,
        ownerPassword: String,
        schema: String,
        database: String
    ) throws {
        let script = try ServiceRoleSQL.roles(
            name,
            password: password,
            owner: owner,
            ownerPassword: ownerPassword,
            schema: schema,
            database: database
        )
        try runSQL(script, database: database)
    }

    /// Makes or updates the login role that reads backups.
    public func createBackupRole(name: String, password: String, database: String) throws {
        try runSQL(
            ServiceRoleSQL.backupRole(name, password: password, database: database),
            database: database
        )
    }

    /// Makes the databases that every cluster has accessible only to superusers.
    public func closeToStrangers() throws { try runSQL(ServiceRoleSQL.closeCluster) }

    private func plainIdentifier(_ name: String) throws(LocalPostgresError) -> String {
        try ServiceRoleSQL.plainIdentifier(name)
    }
}
