import Foundation

/// The SQL that makes the database, and a service's role and schema in it, on a private or any other cluster. Only text.
public enum ServiceRoleSQL {
    /// SQL that makes or updates a login role that owns one schema of a database and has no rights on others. A superuser runs
    /// it in that database.
    ///
    /// - Throws: `LocalPostgresError.invalidName` for a name that is not a plain identifier.
    public static func role(
        _ name: String,
        password: String,
        schema: String,
        database: String
    ) throws(LocalPostgresError) -> String {
        let (name, schema) = (try plainIdentifier(name), try plainIdentifier(schema))
        let database = try plainIdentifier(database)
        return """
            \(prelude)
            \(login(name, password))
            \(closing(database))
            GRANT CONNECT ON DATABASE \(database) TO \(name);
            CREATE SCHEMA IF NOT EXISTS \(schema) AUTHORIZATION \(name);
            ALTER ROLE \(name) IN DATABASE \(database) SET search_path = \(schema);
            """
    }

    /// SQL that makes or updates two login roles: the owner of the schema, for migrations, and a role that may only read and
    /// write its rows, for the service. If the service's role owned the schema before, the owner gets it in one step, and
    /// the service keeps its rights. A superuser runs it in that database.
    ///
    /// - Throws: `LocalPostgresError.invalidName` for a name that is not a plain identifier.
    public static func roles(
        _ name: String,
        password: String,
        owner: String,
        ownerPassword: String,
        schema: String,
        database: String
    ) throws(LocalPostgresError) -> String {
        let (name, schema) = (try plainIdentifier(name), try plainIdentifier(schema))
        let (owner, database) = (try plainIdentifier(owner), try plainIdentifier(database))
        guard owner != name else { throw .invalidName(owner) }
        return """
            \(prelude)
            -- To change an owner takes each table's lock, behind which every call would wait.
            SET lock_timeout = '5s';
            \(login(name, password))
            \(login(owner, ownerPassword))
            \(closing(database))
            GRANT CONNECT ON DATABASE \(database) TO \(name), \(owner);
            CREATE SCHEMA IF NOT EXISTS \(schema) AUTHORIZATION \(owner);
            ALTER SCHEMA \(schema) OWNER TO \(owner);
            REASSIGN OWNED BY \(name) TO \(owner);
            REVOKE ALL ON SCHEMA \(schema) FROM \(name);
            GRANT USAGE ON SCHEMA \(schema) TO \(name);
            REVOKE ALL ON ALL TABLES IN SCHEMA \(schema) FROM \(name);
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(name);
            GRANT USAGE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(name);
            ALTER DEFAULT PRIVILEGES FOR ROLE \(owner) IN SCHEMA \(schema)
              GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO \(name);
            ALTER DEFAULT PRIVILEGES FOR ROLE \(owner) IN SCHEMA \(schema) GRANT USAGE ON SEQUENCES TO \(name);
            -- What was migrated is the owner's to say, and an audit log is only added to. (Of new tables the migrator and the
            -- migration see to it.)
            DO $$ BEGIN
              IF to_regclass('\(schema).schema_migrations') IS NOT NULL THEN
                REVOKE INSERT, UPDATE, DELETE ON \(schema).schema_migrations FROM \(name);
              END IF;
              IF to_regclass('\(schema).security_events') IS NOT NULL THEN
                REVOKE UPDATE, DELETE ON \(schema).security_events FROM \(name);
              END IF;
            END $$;
            ALTER ROLE \(name) IN DATABASE \(database) SET search_path = \(schema);
            ALTER ROLE \(owner) IN DATABASE \(database) SET search_path = \(schema);
            """
    }

    /// SQL that makes or updates a login role that reads backups: the whole cluster by replication, and all tables. A superuser runs it in
    /// that database.
    ///
    /// - Throws: `LocalPostgresError.invalidName` for a name that is not a plain identifier.
    public static func backupRole(
        _ name: String,
        password: String,
        database: String
    ) throws(LocalPostgresError) -> String {
        let (name, database) = (try plainIdentifier(name), try plainIdentifier(database))
        return """
            \(prelude)
            \(login(name, password))
            ALTER ROLE \(name) REPLICATION;
            GRANT CONNECT ON DATABASE \(database) TO \(name);
            GRANT pg_read_all_data TO \(name);
            """
    }

    /// SQL that makes the databases that every cluster has accessible only to superusers; for a cluster of our own.
    public static let closeCluster = "REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC;"

    private static let prelude = """
        -- A statement that fails is logged with its text; this one holds a password.
        SET log_min_error_statement = panic;
        SET log_statement = 'none';
        SET standard_conforming_strings = on;
        SET client_min_messages = warning;
        """

    private static func login(_ name: String, _ password: String) -> String {
        let quoted = "'" + password.replacingOccurrences(of: "'", with: "''") + "'"
        return """
            DO $$ BEGIN
              IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '\(name)') THEN CREATE ROLE \(name); END IF;
            END $$;
            ALTER ROLE \(name) LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD \(quoted);
            """
    }

    private static func closing(_ database: String) -> String {
        """
        REVOKE ALL ON DATABASE \(database) FROM PUBLIC;
        REVOKE ALL ON SCHEMA public FROM PUBLIC;
        """
    }

    /// SQL that returns a row if there is such a database.
    public static func hasDatabase(_ name: String) throws(LocalPostgresError) -> String {
        "SELECT 1 FROM pg_database WHERE datname = '\(try plainIdentifier(name))'"
    }

    /// SQL that makes a database; PostgreSQL requires it to be alone in its script.
    public static func createDatabase(_ name: String) throws(LocalPostgresError) -> String {
        "CREATE DATABASE \(try plainIdentifier(name))"
    }

    /// The name, if it needs no quotes: lower-case letters, digits and `_`, at most 63 characters.
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
