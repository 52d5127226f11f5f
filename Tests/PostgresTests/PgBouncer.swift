import Foundation
import Postgres
import TestDatabases
import TestWaits
import Testing

/// A PgBouncer in front of a test's database.
struct PgBouncer {
    /// The database behind it.
    let database: TestDatabase
    private let folder: String
    private let process: Process

    /// The port in the name of its socket.
    private static let port = 6432

    /// Runs one and stops it after the body.
    ///
    /// - Parameters:
    ///   - mode: `session` or `transaction`.
    ///   - sessions: how many sessions of PostgreSQL it shares out.
    static func run(
        mode: String,
        sessions: Int,
        _ body: (PgBouncer) async throws -> Void
    ) async throws {
        try await TestDatabase.withFresh { database in
            let pooler = try start(mode: mode, sessions: sessions, database)
            defer { pooler.stop() }
            try await eventually { FileManager.default.fileExists(atPath: "\(pooler.folder)/.s.PGSQL.\(port)") }
            try await body(pooler)
        }
    }

    private static func start(mode: String, sessions: Int, _ database: TestDatabase) throws -> PgBouncer {
        let folder = "/tmp/vst-pgb-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let settings = """
            [databases]
            * = host=\(database.configuration.host) port=\(database.configuration.port)
            [pgbouncer]
            unix_socket_dir = \(folder)
            unix_socket_mode = 0777
            listen_port = \(port)
            auth_type = trust
            auth_file = \(folder)/users
            pool_mode = \(mode)
            default_pool_size = \(sessions)
            max_client_conn = 100
            logfile = \(folder)/log
            """
        try settings.write(toFile: "\(folder)/settings", atomically: true, encoding: .utf8)
        let users = Set([database.configuration.user, database.ownerConfiguration.user])
        try users.map { "\"\($0)\" \"\(database.password)\"\n" }.joined().write(
            toFile: "\(folder)/users",
            atomically: true,
            encoding: .utf8
        )
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/pgbouncer")
        // It runs as any user but root, and so does PostgreSQL.
        var arguments = ["-q", "\(folder)/settings"]
        if geteuid() == 0, let user = getpwnam("postgres") {
            arguments = ["-u", "postgres"] + arguments
            guard chown(folder, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
                throw CocoaError(.fileWriteNoPermission)
            }
        }
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return PgBouncer(database: database, folder: folder, process: process)
    }

    private func stop() {
        // Its other signals may be blocked, as they are in the thread that started it.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The database by way of the pooler.
    func configuration(_ pooler: PostgresPooler) -> PostgresConfiguration {
        through(database.configuration, pooler)
    }

    /// The same for the schema's owner.
    func ownerConfiguration(_ pooler: PostgresPooler) -> PostgresConfiguration {
        through(database.ownerConfiguration, pooler)
    }

    /// Where the database is without the pooler.
    var direct: (host: String, port: Int) { (database.configuration.host, database.configuration.port) }

    private func through(_ configuration: PostgresConfiguration, _ pooler: PostgresPooler) -> PostgresConfiguration {
        var configuration = configuration
        configuration.host = folder
        configuration.port = Self.port
        configuration.pooler = pooler
        configuration.waitLimit = .seconds(1)
        return configuration
    }
}
