import Dispatch
import FoundationEssentials
import Glibc
import LocalPostgres
import Postgres
import ServiceKit

/// PostgreSQL's own programs for backups, started with the connection in their environment, so that no process list shows a password.
struct PostgresTool: Sendable {
    /// The maximum of an error's text.
    private static let outputShownMax = 600

    private let path: String
    private let environment: [String: String]

    init(path: String, environment: [String: String] = [:]) {
        self.path = path
        self.environment = environment
    }

    /// The newest installed program of that name, or that of a major version.
    ///
    /// - Throws: ``BackupError`` if there is none, with the package that has it.
    static func find(_ name: String, majorVersion: Int? = nil, database: PostgresConfiguration? = nil) throws
        -> PostgresTool
    {
        let paths = PostgresPrograms.folders(majorVersion: majorVersion).map { "\($0)/\(name)" }
        let path = paths.first { path in
            access(path, X_OK) == 0
                && (majorVersion == nil || PostgresPrograms.majorVersion(of: path) == majorVersion)
        }
        guard let path else {
            let package = majorVersion.map { "postgresql-client-\($0)" } ?? "postgresql-client"
            throw BackupError("\(name) was not found (Debian: apt install \(package))")
        }
        return PostgresTool(path: path, environment: database.map(connection) ?? [:])
    }

    /// libpq's variables for a connection (PostgreSQL manual, "Environment Variables").
    private static func connection(_ database: PostgresConfiguration) -> [String: String] {
        var variables = [
            "PGHOST": database.host, "PGPORT": "\(database.port)", "PGUSER": database.user,
            "PGAPPNAME": database.applicationName, "PGCONNECT_TIMEOUT": "10",
        ]
        if database.host.contains(",") { variables["PGTARGETSESSIONATTRS"] = "read-write" }
        if let password = database.password { variables["PGPASSWORD"] = password }
        for (keyword, value) in database.tls.connectionParameters { variables["PG\(keyword.uppercased())"] = value }
        return variables
    }

    /// Runs it to its end; blocks.
    ///
    /// - Parameter showsOutput: whether what it prints goes to this program's standard error, as its progress does.
    func run(_ arguments: [String], showsOutput: Bool = false) throws {
        if showsOutput {
            let child = try start(arguments, output: 2)
            let status = ChildProcess.wait(for: child)
            guard status == 0 else { throw BackupError("\(name) failed with status \(status)") }
            return
        }
        let (status, output) = try ChildProcess.run(
            [path] + arguments,
            environment: variables
        )
        guard status == 0 else {
            let words = output.split(whereSeparator: \.isNewline).joined(separator: "; ")
            throw BackupError("\(name) failed with status \(status): \(words.suffix(Self.outputShownMax))")
        }
    }

    /// Runs it to its end, on a thread that may block.
    func runAside(_ arguments: [String], showsOutput: Bool = false) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try run(arguments, showsOutput: showsOutput) })
            }
        }
    }

    private func start(_ arguments: [String], output: Int32) throws -> pid_t {
        let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw FileError.lastError("/dev/null") }
        defer { close(input) }
        return try ChildProcess.spawn([path] + arguments, environment: variables, input: input, output: output)
    }

    /// A program that runs until it is stopped, and is stopped if this process ends in any way.
    struct Running: Sendable {
        fileprivate let watcher: pid_t
        /// The end of a pipe: once nobody has it open, the watcher sends SIGINT.
        fileprivate let lifeline: Int32

        /// The exit status, once it has ended; call it until then.
        func ending() -> Int32? {
            var status: Int32 = 0
            guard waitpid(watcher, &status, WNOHANG) == watcher else { return nil }
            return status >> 8 & 0xff
        }

        /// Asks it to end; `ending()` says when it has. Once.
        func stop() { close(lifeline) }
    }

    private static let watch = """
        exec 3<&0 </dev/null
        "$@" 3<&- &
        program=$!
        ( read -r _ <&3; kill -INT $program ) 2>/dev/null &
        reader=$!
        exec 3<&-
        wait $program
        status=$?
        kill $reader 2>/dev/null
        exit $status
        """

    /// Starts it until it is stopped. What it prints goes to standard error; Ctrl-C doesn't reach it.
    func runUntilStopped(_ arguments: [String]) throws -> Running {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw FileError.lastError("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        do {
            let command = ["/bin/sh", "-c", Self.watch, "sh", path] + arguments
            let watcher = try ChildProcess.spawn(
                command,
                environment: variables,
                input: ends[0],
                output: 2,
                ownSession: true
            )
            return Running(watcher: watcher, lifeline: ends[1])
        } catch {
            close(ends[1])
            throw error
        }
    }

    private var variables: [String: String] { ChildProcess.plainEnvironment.merging(environment) { _, ours in ours } }

    private var name: String { path.split(separator: "/").last.map(String.init) ?? path }
}
