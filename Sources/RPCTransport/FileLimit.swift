import CRPC
import Glibc

/// How many files the process may have open, and what a server may take of them for clients' connections.
struct FileLimit: Sendable, Hashable {
    /// The fewest connections that a server starts with where it was configured for more; half of its configured number, if that
    /// is less.
    static let connectionsMin = 64
    /// Files of an event loop: what it waits on and is woken by, and its listening socket.
    private static let filesPerLoop = 4

    /// Files left for everything but clients' connections: databases, other services, logs, event loops, and on each loop the
    /// sockets that outlive their connection for a while (`CRPC_LINGERING_MAX`).
    static func reserved(loopCount: Int) -> Int { 256 + loopCount * (Int(CRPC_LINGERING_MAX) + filesPerLoop) }

    /// The limit of this process (RLIMIT_NOFILE). The first use raises the soft limit to the hard one: shells and init systems
    /// often set 1024, which is a limit for programs that use `select`, and no decision about this one.
    static let ofProcess = FileLimit(files: raised())

    /// Files that may be open at once; nil if the system sets no limit.
    var files: Int?

    /// The connections that a server on so many event loops may have of those it was configured for.
    ///
    /// - Throws: `TransportError.argument` where the limit leaves fewer than `connectionsMin`.
    func connections(of configured: Int, loopCount: Int) throws(TransportError) -> Int {
        let reserved = Self.reserved(loopCount: loopCount)
        guard let files, configured > files - reserved else { return configured }
        let left = files - reserved
        let least = min((configured + 1) / 2, Self.connectionsMin)
        guard left >= least else {
            throw .argument(
                "the limit of \(files) open files (RLIMIT_NOFILE, ulimit -n) is too low: "
                    + "\(reserved + least) is the least"
            )
        }
        return left
    }

    private static func raised() -> Int? {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        if limit.rlim_cur < limit.rlim_max {
            var wanted = limit
            wanted.rlim_cur = limit.rlim_max
            // Where that is refused, the soft limit holds.
            if setrlimit(resource, &wanted) == 0 { limit = wanted }
        }
        return limit.rlim_cur >= rlim_t(Int.max) ? nil : Int(limit.rlim_cur)
    }
}

extension ServerConfiguration {
    /// How many of ``connectionsMax`` this process may have, by its limit of open files.
    ///
    /// - Throws: `TransportError.argument` if the limit is too low for any server.
    public func connectionsAllowed(loopCount: Int) throws(TransportError) -> Int {
        try fitted(to: .ofProcess, loopCount: loopCount).connectionsMax
    }

    /// The same with no more connections than the process may have files.
    ///
    /// - Throws: `TransportError.argument` if the limit is too low for any server.
    func fitted(to limit: FileLimit, loopCount: Int) throws(TransportError) -> ServerConfiguration {
        var fitted = self
        fitted.connectionsMax = try limit.connections(of: connectionsMax, loopCount: loopCount)
        if fitted.connectionsMax < connectionsMax {
            // No address may take every place, as before. 0 is no bound.
            fitted.connectionsPerAddressMax = min(connectionsPerAddressMax, max(1, fitted.connectionsMax / 2))
        }
        return fitted
    }
}
