import Foundation

extension LocalCluster {
    /// Runs SQL as superuser through `psql`, stopping at the first error, and gives what it printed: rows as lines,
    /// columns parted by `|`. The text travels on standard input, so nothing of it shows in a process list.
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

    /// Makes a database, closed to every role that isn't let in, if it isn't there.
    public func createDatabase(_ name: String) throws {
        let name = try plainIdentifier(name)
        let exists = try runSQL("SELECT 1 FROM pg_database WHERE datname = '\(name)';")
        if exists.isEmpty { try runSQL("CREATE DATABASE \(name);") }
        try runSQL(
            """
            REVOKE ALL ON DATABASE \(name) FROM PUBLIC;
            REVOKE ALL ON SCHEMA public FROM PUBLIC;
            """,
            database: name
        )
    }

    /// Removes a database with whatever is connected to it.
    public func dropDatabase(_ name: String) throws {
        try runSQL("DROP DATABASE IF EXISTS \(try plainIdentifier(name)) WITH (FORCE);")
    }

    /// Makes, or brings up to date, a login role that owns one schema of a database and has no rights on others.
    ///
    /// The password is set anew each time and checked with SCRAM-SHA-256.
    public func createServiceRole(name: String, password: String, schema: String, database: String) throws {
        let (name, schema) = (try plainIdentifier(name), try plainIdentifier(schema))
        let database = try plainIdentifier(database)
        let quoted = "'" + password.replacingOccurrences(of: "'", with: "''") + "'"
        try runSQL(
            """
            -- A statement that fails is logged with its text; this one holds a password.
            SET log_min_error_statement = panic;
            SET log_statement = 'none';
            SET standard_conforming_strings = on;
            SET client_min_messages = warning;
            DO $$ BEGIN
              IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '\(name)') THEN CREATE ROLE \(name); END IF;
            END $$;
            ALTER ROLE \(name) LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD \(quoted);
            REVOKE ALL ON DATABASE \(database) FROM PUBLIC;
            REVOKE ALL ON SCHEMA public FROM PUBLIC;
            GRANT CONNECT ON DATABASE \(database) TO \(name);
            CREATE SCHEMA IF NOT EXISTS \(schema) AUTHORIZATION \(name);
            ALTER ROLE \(name) IN DATABASE \(database) SET search_path = \(schema);
            """,
            database: database
        )
    }

    private func plainIdentifier(_ name: String) throws(LocalPostgresError) -> String {
        let letters = "a"..."z"
        let digits = "0"..."9"
        let isPlain = name.unicodeScalars.allSatisfy {
            letters.contains(String($0)) || digits.contains(String($0)) || $0 == "_"
        }
        guard isPlain, let first = name.first, !digits.contains(String(first)), name.utf8.count <= 63 else {
            throw .invalidName(name)
        }
        return name
    }
}
