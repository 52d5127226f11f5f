/// Where the database is, who we are there, and every bound.
public struct PostgresConfiguration: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The folder of a unix socket, or a host. A host name is looked up by blocking calls: prefer a folder or address.
    public var host: String
    /// The TCP port, or the number in the socket's name.
    public var port: Int
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
    /// libpq's `sslmode`; of no meaning on a unix socket.
    public var tlsMode = "prefer"

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
    /// After this the server ends a session that sits in a transaction and says nothing.
    public var idleInTransactionTimeout: Duration = .seconds(10)
    /// How long an attempt to connect may take.
    public var connectTimeout: Duration = .seconds(5)
    /// Statements under way on one connection.
    public var pipelineDepthMax = 512
    /// Reads that share one Sync, and so are asked again one by one if one of them fails.
    public var readsPerSyncMax = 128
    /// Statements that a connection keeps prepared.
    public var statementsMax = 256

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

    /// Keywords and values of libpq (PostgreSQL manual, "Database Connection Control Functions").
    var connectionParameters: [(keyword: String, value: String)] {
        var settings = [
            ("statement_timeout", "\(statementTimeout.wholeMilliseconds)"),
            ("idle_in_transaction_session_timeout", "\(idleInTransactionTimeout.wholeMilliseconds)"),
            // A connection that we give up on must not leave its statement running to the end.
            ("client_connection_check_interval", "1000"),
            // What is prepared is planned once. Left to choose, the server plans statements over few keys each time.
            ("plan_cache_mode", "force_generic_plan"),
        ]
        if let searchPath { settings.append(("search_path", searchPath)) }
        let options = settings.map { "-c \($0.0)=\(Self.escapedOption($0.1))" }.joined(separator: " ")
        var parameters = [
            ("host", host), ("port", "\(port)"), ("user", user), ("dbname", database),
            ("application_name", applicationName), ("client_encoding", "UTF8"), ("sslmode", tlsMode),
            ("gssencmode", "disable"), ("options", options),
        ]
        if let password { parameters.append(("password", password)) }
        return parameters
    }

    /// Spaces part the options and a backslash takes a character as it is (same chapter, "options").
    static func escapedOption(_ value: String) -> String {
        var escaped = ""
        for character in value {
            if character == " " || character == "\\" { escaped.append("\\") }
            escaped.append(character)
        }
        return escaped
    }
}

extension Duration {
    /// Whole milliseconds, at least one, since zero switches PostgreSQL's limits off.
    var wholeMilliseconds: Int64 {
        max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
    }
}
