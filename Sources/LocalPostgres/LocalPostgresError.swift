/// Why a private cluster could not be made, started or used. Each prints as one line for people.
public enum LocalPostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No PostgreSQL server programs were found, or none of an existing folder's major version.
    case programsMissing(majorVersion: Int?)
    /// The folder has files that were not made here; nothing in it was touched.
    case foreignFolder(String)
    /// Another process runs this cluster.
    case alreadyRunning(String)
    /// The path of the unix socket is too long for a socket address.
    case socketPathTooLong(String)
    /// There is no unprivileged user to run the server as.
    case serverUserMissing
    /// A program could not be started or failed; the last lines of its output.
    case programFailed(program: String, status: Int32, output: String)
    /// The server ended before it accepted connections; the last lines of its log.
    case serverEnded(log: String)
    /// The server did not accept connections in time; the last lines of its log.
    case startTimedOut(log: String)
    /// A call of the operating system failed.
    case system(call: String, path: String, errno: Int32)
    /// A name that is not a plain SQL identifier (lower case letters, digits, underscore).
    case invalidName(String)

    /// One line about the problem, with a remedy if there is one.
    public var description: String {
        switch self {
        case .programsMissing(let version?):
            "this folder needs PostgreSQL \(version), which is not installed (Debian: apt install postgresql-\(version); "
                + "\(PostgresPrograms.variable) names another folder of programs)"
        case .programsMissing(nil):
            "PostgreSQL's server programs were not found (Debian: apt install postgresql; "
                + "\(PostgresPrograms.variable) names another folder of programs)"
        case .foreignFolder(let path):
            "\(path) was not made by this program and is left alone"
        case .alreadyRunning(let path):
            "the database in \(path) is already run by another process"
        case .socketPathTooLong(let path):
            "the socket path \(path) is too long"
        case .serverUserMissing:
            "PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as"
        case .programFailed(let program, let status, let output):
            "\(program) failed with status \(status): \(output)"
        case .serverEnded(let log):
            "PostgreSQL ended at start: \(log)"
        case .startTimedOut(let log):
            "PostgreSQL did not accept connections in time: \(log)"
        case .system(let call, let path, let code):
            "\(call) \(path): error \(code)"
        case .invalidName(let name):
            "\(name) is not a plain identifier"
        }
    }
}
