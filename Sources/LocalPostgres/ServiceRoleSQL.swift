import Foundation

/// The SQL that makes the database, and a service's role and schema in it, on a private cluster and on any other. Pure text.
public enum ServiceRoleSQL {
    /// Makes, or brings up to date, a login role that owns one schema of a database and has no rights on others; to be run
    /// by a superuser, in that database.
    ///
    /// - Throws: `LocalPostgresError.invalidName` for a name that is no plain identifier.
    public static func role(
        _ name: String,
        password: String,
        schema: String,
        database: String
    ) throws(LocalPostgresError) -> String {
        let (name, schema) = (try plainIdentifier(name), try plainIdentifier(schema))
        let database = try plainIdentifier(database)
        let quoted = "'" + password.replacingOccurrences(of: "'", with: "''") + "'"
        return """
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
            """
    }

    /// Gives a row if there is such a database.
    public static func hasDatabase(_ name: String) throws(LocalPostgresError) -> String {
        "SELECT 1 FROM pg_database WHERE datname = '\(try plainIdentifier(name))'"
    }

    /// Makes a database; alone in its script, as PostgreSQL wants it.
    public static func createDatabase(_ name: String) throws(LocalPostgresError) -> String {
        "CREATE DATABASE \(try plainIdentifier(name))"
    }

    /// The name, if it needs no quotes: small letters, digits and `_`, at most 63.
    public static func plainIdentifier(_ name: String) throws(LocalPostgresError) -> String {
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
