import Dispatch

/// A connection of a superuser for scripts of SQL before the services run. It blocks, on a thread of its own.
public struct AdministrativeSession: Sendable {
    private let configuration: PostgresConfiguration

    /// Why a script didn't run.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The server refused it, and nothing of it took effect.
        case refused(PostgresServerError)
        /// The database couldn't be reached.
        case unavailable(String)

        /// One line for people. It shows the server's words, which may quote the script.
        public var description: String {
            switch self {
            case .refused(let fault): "\(fault.state) \(fault.message)"
            case .unavailable(let reason): "database unavailable: \(reason)"
            }
        }
    }

    /// A session that connects as this configuration says, for each script anew.
    public init(_ configuration: PostgresConfiguration) { self.configuration = configuration }

    /// Runs a script in one transaction and gives the rows of its last statement as text, NULL as the empty string.
    ///
    /// - Parameters:
    ///   - lock: a name; scripts of the same name wait for each other.
    ///   - isSecret: whether the server must not log the script, as it has passwords in it. Takes a superuser.
    @discardableResult
    public func run(
        _ script: String,
        lock: String? = nil,
        isSecret: Bool = false
    ) async throws(Failure) -> [[String]] {
        let outcome: Result<[[String]], Failure> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { () throws(Failure) in
                        try runBlocking(script, lock: lock, isSecret: isSecret)
                    }
                )
            }
        }
        return try outcome.get()
    }

    private func runBlocking(_ script: String, lock: String?, isSecret: Bool) throws(Failure) -> [[String]] {
        do {
            let session = try BlockingSession(configuration)
            if let lock {
                // The session holds it, and so loses it when it ends.
                try session.run("SELECT pg_advisory_lock(hashtextextended(\(session.quoted(lock)), 0))")
            }
            if isSecret {
                // By itself: a message is logged whole before its first statement takes effect.
                try session.run(
                    """
                    SET log_statement = 'none'; SET log_min_error_statement = panic; SET log_min_duration_statement = -1;
                    SET log_min_duration_sample = -1; SET log_duration = off
                    """
                )
            }
            return try session.run(script)
        } catch let error as BlockingSession.Failure {
            switch error {
            case .server(let fault): throw .refused(fault)
            case .lost(let reason): throw .unavailable(reason)
            }
        } catch {
            if case .unavailable(let reason)? = error as? MigrationError { throw .unavailable(reason) }
            throw .unavailable("\(error)")
        }
    }
}
