import Glibc

/// How many files the process may have open, and what a server may take of them for clients' connections.
struct FileLimit: Sendable, Hashable {
    /// Files left for everything but clients' connections: databases, other services, event loops, logs.
    static let reserved = 256
    /// The fewest connections that a server starts with where it was configured for more.
    static let connectionsMin = 64

    /// The limit of this process (RLIMIT_NOFILE). The first use raises the soft limit to the hard one: shells and init systems
    /// often set 1024, which is a limit for programs that use `select`, and no decision about this one.
    static let ofProcess = FileLimit(files: raised())

    /// Files that may be open at once; nil if the system sets no limit.
    var files: Int?

    /// The connections that a server may have of those it was configured for.
    ///
    /// - Throws: `TransportError.argument` where the limit leaves fewer than `connectionsMin`.
    func connections(of configured: Int) throws(TransportError) -> Int {
        guard let files, configured > files - Self.reserved else { return configured }
        let left = files - Self.reserved
        guard left >= Self.connectionsMin else {
            throw .argument(
                "the limit of \(files) open files (RLIMIT_NOFILE, ulimit -n) is too low: "
                    + "\(Self.reserved + Self.connectionsMin) is the least"
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
    /// The same with no more connections than the process may have files.
    ///
    /// - Throws: `TransportError.argument` if the limit is too low for any server.
    func fitted(to limit: FileLimit) throws(TransportError) -> ServerConfiguration {
        var fitted = self
        fitted.connectionsMax = try limit.connections(of: connectionsMax)
        if fitted.connectionsMax < connectionsMax {
            // No address may take every place, as before. 0 is no bound.
            fitted.connectionsPerAddressMax = min(connectionsPerAddressMax, max(1, fitted.connectionsMax / 2))
        }
        return fitted
    }
}
