internal import CLibPQ
import Glibc
import RPC

/// The first statement of a session: makes its settings, and looks whether it is the server's own. Any thread.
struct SessionSetup: Sendable {
    /// Nil where a session keeps nothing.
    private let statement: String?
    private let mayBePooled: Bool
    private let limit: Duration

    /// - Parameter seconds: how long it may take.
    init(_ configuration: PostgresConfiguration, seconds: Int64) {
        statement = configuration.pooler == .transaction ? nil : configuration.settingsStatement(isLocal: false)
        mayBePooled = configuration.pooler != .none
        limit = .seconds(seconds)
    }

    /// Runs it on a new connection, which doesn't block from then on. Blocks the thread until the server has answered, or the limit is over.
    /// Returns why the session can't be used; nil if it can.
    func run(on handle: OpaquePointer) -> String? {
        guard PQsetnonblocking(handle, 1) == 0 else { return handle.errorMessage }
        guard let statement else { return nil }
        let deadline = Deadline.after(limit)
        guard PQsendQuery(handle, statement) == 1 else { return handle.errorMessage }
        while true {
            let unsent = PQflush(handle)
            guard unsent >= 0 else { return handle.errorMessage }
            if unsent == 0, PQisBusy(handle) == 0 { break }
            guard Self.wait(PQsocket(handle), forWriting: unsent > 0, until: deadline) else {
                return "the server took too long to begin a session"
            }
            guard PQconsumeInput(handle) == 1 else { return handle.errorMessage }
        }
        guard let result = PQgetResult(handle) else { return handle.errorMessage }
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_TUPLES_OK, let number = PQgetvalue(result, 0, 0) else {
            return "the settings of the session were refused: \(PostgresServerError(result: result))"
        }
        // The answer's end has come with it or follows at once; libpq waits for it here.
        while let rest = PQgetResult(handle) { PQclear(rest) }
        // A pooler makes up a number for its clients (protocol message BackendKeyData).
        guard mayBePooled || Int32(String(cString: number)) == PQbackendPID(handle) else { return Self.pooled }
        return nil
    }

    private static let pooled = """
        a connection pooler is between this program and PostgreSQL, and it isn't said which of its modes: see VESTIBULE_DATABASE_POOLER
        """

    private static func wait(_ socket: Int32, forWriting: Bool, until deadline: Deadline) -> Bool {
        var entry = pollfd(fd: socket, events: Int16(forWriting ? POLLIN | POLLOUT : POLLIN), revents: 0)
        while true {
            let left = deadline.remaining
            guard left > .zero else { return false }
            let count = poll(&entry, 1, Int32(clamping: left.wholeMilliseconds))
            if count > 0 { return true }
            if count < 0, errno != EINTR { return false }
        }
    }
}
