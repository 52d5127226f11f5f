import RPC
import RPCTransport
import Tracing

/// Where the database is, who we are there, and every bound.
public struct PostgresConfiguration: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The folder of a unix socket, or a host; or several with commas between, of which the first that takes writes is
    /// used. All addresses of a name are tried. Names are looked up away from the event loops.
    public var host: String
    /// The TCP port, or the number in the socket's name.
    public var port: Int
    /// What stands between us and the server.
    public var pooler = PostgresPooler.none
    /// Where a session of one's own is to be had, for migrations and notifications: PostgreSQL itself, or a pooler in session mode. Nil for
    /// the host and the port above.
    public var direct: (host: String, port: Int)?
    /// What kind of database it is.
    public var engine = PostgresEngine.postgresql
    /// For tests: the part of statements and commits, 0 to 1, that the server undoes as if another transaction had been in the way.
    public var injectedConflicts = 0.0
    /// The login role.
    public var user: String
    /// Its password.
    public var password: String?
    /// The database.
    public var database: String
    /// What `pg_stat_activity` shows.
    public var applicationName: String
    /// The schema or schemas that names are looked up in; nil leaves it to the role.
    public var searchPath: String?
    /// Whether the connection is encrypted and the server's name proven; of no meaning on a unix socket.
    public var tls = PostgresTLS.prefer
    /// Looks up the hosts' names. While it has no answer, the one before counts.
    public var resolver: any NameResolver = SystemNameResolver()
    /// What to say with the reason why a connection can't be made, such as the setting to look at.
    public var advice: (@Sendable (ConnectionFault) -> String)?
    /// The same for `direct`.
    public var directAdvice: (@Sendable (ConnectionFault) -> String)?
    /// Told that a connection was lost or couldn't be made, and why, in words without secrets or stored values: the first
    /// time, and then at most every ten seconds for each loop. On the loop; it must not block.
    public var onConnectionFailure: (@Sendable (_ reason: String) -> Void)?

    /// Connections of each loop. One is opened at start, the others when transactions or slow statements need them.
    public var connectionsPerLoop = 4
    /// Callers of a loop that may wait for a connection.
    public var waitersMax = 1024
    /// How long one waits.
    public var waitLimit: Duration = .seconds(2)
    /// The deadline of a statement, or of a whole transaction, that was given none.
    public var queryTimeout: Duration = .seconds(5)
    /// After this the server itself ends a statement.
    public var statementTimeout: Duration = .seconds(30)
    /// How long the server lets a statement wait for a lock. Then that one is refused (55P03) and nothing of it done;
    /// statements behind it on the connection wait no longer, and keep their answers. Keep it well under `queryTimeout`, and
    /// above the server's `deadlock_timeout` of a second, or a deadlock is reported as 55P03, too.
    public var lockTimeout: Duration = .milliseconds(1500)
    /// After this the server ends a session that is idle in a transaction.
    public var idleInTransactionTimeout: Duration = .seconds(10)
    /// How long an attempt to connect may take, the look-up of names included. The servers' addresses share it, but each
    /// gets two seconds at least.
    public var connectTimeout: Duration = .seconds(5)
    /// Statements under way on one connection.
    public var pipelineDepthMax = 512
    /// Reads that share one Sync, and so are asked again one by one if one of them fails.
    public var readsPerSyncMax = 128
    /// Statements that a connection keeps prepared.
    public var statementsMax = 256

    /// Makes a span of each statement that is asked for within a span; nil for none. By default the program's tracer, if it
    /// has installed one by now.
    public var tracer: (any Tracer)? = InstrumentationSystem.installedTracer

    /// A configuration with the default bounds.
    public init(
        host: String,
        port: Int = 5432,
        user: String,
        password: String? = nil,
        database: String,
        applicationName: String = "vestibule",
        searchPath: String? = nil
    ) {
        self.host = host
        self.port = port
        self.user = user
        self.password = password
        self.database = database
        self.applicationName = applicationName
        self.searchPath = searchPath
    }

    /// Without the password.
    public var description: String {
        "postgresql://\(user)\(password == nil ? "" : ":***")@\(host):\(port)/\(database)"
    }

    /// Without the password.
    public var debugDescription: String { description }

    /// The hosts, of which there may be several.
    var hosts: [String] {
        host.split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
    }

    /// Keywords and values of libpq (PostgreSQL manual, "Database Connection Control Functions"), which looks the names
    /// up itself.
    var connectionParameters: [(keyword: String, value: String)] { connectionParameters(servers: nil) }

    /// The same, with addresses for the names.
    func connectionParameters(servers: [ServerAddresses.Server]?) -> [(keyword: String, value: String)] {
        let hosts = servers?.map(\.host) ?? hosts
        var parameters = [
            ("host", hosts.joined(separator: ",")), ("port", "\(port)"), ("user", user), ("dbname", database),
            ("application_name", applicationName), ("client_encoding", "UTF8"), ("gssencmode", "disable"),
            // After a failover the server that was the primary may be there still, and refuses every write.
            ("target_session_attrs", "read-write"),
            // A server that is gone without a word is noticed in 25 s of silence, or ten after something was sent.
            ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "10000"),
        ]
        if let servers { parameters.append(("hostaddr", servers.map(\.address).joined(separator: ","))) }
        parameters += tls.connectionParameters
        if let password { parameters.append(("password", password)) }
        return parameters
    }

    /// Seconds that libpq may spend on each of so many servers; it takes no less than two.
    func connectSeconds(servers: Int) -> Int64 {
        max(2, connectTimeout.components.seconds / Int64(max(1, servers)))
    }
}

extension Duration {
    /// Whole milliseconds, at least one, since zero switches PostgreSQL's limits off.
    var wholeMilliseconds: Int64 {
        max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
    }
}
