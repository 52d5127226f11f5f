import Glibc
import RPCTransport

/// The keys that several programs read, so that one file can serve them all.
public enum SharedKeys {
    /// Where PostgreSQL is: a host, or the folder of its unix socket.
    public static let databaseHost = ConfigurationKey.string(
        "VESTIBULE_DATABASE_HOST",
        default: "127.0.0.1",
        help: "PostgreSQL's host, or the folder of its Unix socket; or several hosts separated by commas, "
            + "of which the first writable one is used."
    )
    /// What is between the services and PostgreSQL.
    public static let databasePooler = ConfigurationKey<DatabasePooler>.choice(
        "VESTIBULE_DATABASE_POOLER",
        default: DatabasePooler.none,
        help: "The mode of the connection pooler, such as PgBouncer, that VESTIBULE_DATABASE_HOST leads to."
    )
    /// What kind of database it is.
    public static let databaseEngine = ConfigurationKey<DatabaseEngine>.choice(
        "VESTIBULE_DATABASE_ENGINE",
        default: DatabaseEngine.postgresql,
        help:
            "What kind of database it is: with `distributed` each transaction is serializable, and done again if another one was "
            + "in its way."
    )
    /// For tests: conflicts that were none.
    public static let databaseInjectedConflicts = ConfigurationKey.int(
        "VESTIBULE_DATABASE_INJECTED_CONFLICTS",
        in: 0...500,
        default: 0,
        help:
            "For tests: how many of a thousand statements and commits are undone as if another transaction had been in the way."
    )
    /// Where a session of PostgreSQL is to be had if the pooler gives none.
    public static let databaseDirectHost = ConfigurationKey.optionalString(
        "VESTIBULE_DATABASE_DIRECT_HOST",
        help:
            "Behind a pooler: PostgreSQL itself, as in VESTIBULE_DATABASE_HOST, for migrations and notifications. In transaction mode "
            + "migrations need it, and without it replicas notice each other's changes by polling."
    )
    /// Its port.
    public static let databaseDirectPort = ConfigurationKey.int(
        "VESTIBULE_DATABASE_DIRECT_PORT",
        in: 1...65_535,
        default: 5432,
        help: "The port of VESTIBULE_DATABASE_DIRECT_HOST."
    )
    /// How connections to PostgreSQL are secured.
    public static let databaseTLS = ConfigurationKey<DatabaseTLS>.choice(
        "VESTIBULE_DATABASE_TLS",
        default: .auto,
        help: "Whether connections to PostgreSQL are encrypted; auto means verify-full, or prefer if the host is a "
            + "socket's folder or a loopback address and no VESTIBULE_DATABASE_CA_FILE is given."
    )
    /// The authorities of PostgreSQL's certificate.
    public static let databaseAuthorities = ConfigurationKey.optionalPath(
        "VESTIBULE_DATABASE_CA_FILE",
        help: "PEM file of the authorities that PostgreSQL's certificate comes from; without it those of the system."
    )
    /// PostgreSQL's port.
    public static let databasePort = ConfigurationKey.int(
        "VESTIBULE_DATABASE_PORT",
        in: 1...65_535,
        default: 5432,
        help: "PostgreSQL's port."
    )
    /// The database.
    public static let databaseName = ConfigurationKey.string(
        "VESTIBULE_DATABASE_NAME",
        default: "vestibule",
        help: "The database, in which each service has a schema."
    )
    /// Where identity is called.
    public static let identityAddress = ConfigurationKey.addresses(
        "VESTIBULE_IDENTITY_ADDRESS",
        default: "127.0.0.1:7001",
        help: "Where the identity service is called: a name stands for all its addresses."
    )
    /// Where profile is called.
    public static let profileAddress = ConfigurationKey.addresses(
        "VESTIBULE_PROFILE_ADDRESS",
        default: "127.0.0.1:7002",
        help: "Where the profile service is called: a name stands for all its addresses."
    )
    /// Where invites is called.
    public static let invitesAddress = ConfigurationKey.addresses(
        "VESTIBULE_INVITES_ADDRESS",
        default: "127.0.0.1:7003",
        help: "Where the invites service is called: a name stands for all its addresses."
    )
    /// How large an uploaded picture may be.
    public static let avatarBytes = ConfigurationKey.int(
        "VESTIBULE_PROFILE_AVATAR_BYTES",
        in: 16_384...2_097_152,
        default: 524_288,
        help: "Maximum bytes of an uploaded picture; the gateway and profile both read this key."
    )
    /// The region whose notations of phone numbers are understood.
    public static let phoneRegion = ConfigurationKey.string(
        "VESTIBULE_PHONE_REGION",
        default: "PH",
        help: "The region whose notations of phone numbers are understood besides the international one."
    ).formerly("VESTIBULE_PROFILE_PHONE_REGION", "VESTIBULE_INVITES_PHONE_REGION")
    /// The kinds of phone numbers that are taken.
    public static let phoneKinds = ConfigurationKey.list(
        "VESTIBULE_PHONE_KINDS",
        default: ["mobile", "fixed-line-or-mobile"],
        help: "The kinds of phone numbers taken: mobile, fixed-line, fixed-line-or-mobile, voip."
    ).formerly("VESTIBULE_PROFILE_PHONE_KINDS", "VESTIBULE_INVITES_PHONE_KINDS")
    /// The regions whose phone numbers are taken.
    public static let phoneRegions = ConfigurationKey.list(
        "VESTIBULE_PHONE_REGIONS",
        default: ["PH"],
        help: "The regions whose numbers are taken, or *.",
        countMax: 300
    ).formerly("VESTIBULE_PROFILE_PHONE_REGIONS", "VESTIBULE_INVITES_PHONE_REGIONS")
    /// The authorities of the services' certificates.
    public static let servicesAuthorities = ConfigurationKey.optionalPath(
        "VESTIBULE_SERVICES_CA_FILE",
        help:
            "PEM file of the authorities that the services' certificates come from; given, services are called by TLS."
    )
    /// How many event loops a process runs.
    public static let eventLoops = ConfigurationKey.int(
        "VESTIBULE_EVENT_LOOPS",
        in: 0...256,
        default: 0,
        help: "Event loops, one thread each; 0 means one for each core."
    )
    /// How many event loops that makes.
    public static func loopCount(_ configuration: Configuration) -> Int {
        let count = configuration[eventLoops]
        return count == 0 ? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) : count
    }
    /// How many bytes the callers of a service may make it hold.
    public static let heldBytesMax = ConfigurationKey.int(
        "VESTIBULE_HELD_BYTES_MAX",
        in: 1_048_576...1_099_511_627_776,
        default: ServerConfiguration().heldBytesMax,
        help:
            "Maximum bytes of requests, messages and responses that callers may make a service hold. "
            + "From half of it on, each caller has an equal share of the rest."
    )
    /// How long a stopping process waits for calls to end.
    public static let drainLimit = ConfigurationKey.duration(
        "VESTIBULE_DRAIN_LIMIT",
        in: .zero ... .seconds(600),
        default: .seconds(20),
        help: "How long a stopping process waits for its calls to end."
    )
    /// How many connections a service takes at once.
    public static let connections = ConfigurationKey.int(
        "VESTIBULE_CONNECTIONS_MAX",
        in: 16...1_000_000,
        default: 10_000,
        help: "Maximum concurrent connections of callers. A further one replaces the connection that has "
            + "been without a call for longest."
    )
    /// How many of them may come from one address.
    public static let connectionsPerAddress = ConfigurationKey.int(
        "VESTIBULE_CONNECTIONS_PER_ADDRESS_MAX",
        in: 0...1_000_000,
        default: 5000,
        help: "Maximum of these from one IPv4 address or IPv6 /64 network; 0 for any number."
    )
    /// How long a connection may be without a call.
    public static let idleLimit = ConfigurationKey.duration(
        "VESTIBULE_IDLE_LIMIT",
        in: .zero ... .seconds(86_400),
        default: .seconds(300),
        help: "How long a caller's connection may be without a call; 0 for no limit."
    )
    /// The least important level that is logged.
    public static let logLevel = ConfigurationKey<LogLevel>.choice(
        "VESTIBULE_LOG_LEVEL",
        default: .info,
        help: "The lowest level that is logged."
    )
    /// How log lines look.
    public static let logFormat = ConfigurationKey<LogFormat>.choice(
        "VESTIBULE_LOG_FORMAT",
        default: .json,
        help: "JSON lines for machines, or text for people."
    )
    /// Where log lines go.
    public static let logOutput = ConfigurationKey<LogOutput>.choice(
        "VESTIBULE_LOG_OUTPUT",
        default: .stderr,
        help: "Where the log goes."
    )
    /// Which calls are logged.
    public static let logCalls = ConfigurationKey<CallLogging>.choice(
        "VESTIBULE_LOG_CALLS",
        default: .all,
        help: "Which calls get a line in the log, at level info."
    )

    /// Whether clients may ask what can be called.
    public static let reflection = ConfigurationKey.bool(
        "VESTIBULE_REFLECTION",
        default: false,
        help: "Whether services answer gRPC server reflection, so that tools such as grpcurl need no schema; for "
            + "development."
    )

    /// Services ask each other after this time of silence during a call whether the other is there, so that one that is
    /// stuck, or gone without a word, is left within this and the next.
    package static let keepaliveInterval: Duration = .seconds(1)
    /// How long the answer may take.
    static let keepaliveTimeout: Duration = .milliseconds(1500)

    /// Where a program serves its metrics.
    ///
    /// - Parameter program: its name, such as `identity`.
    public static func metricsListen(program: String) -> ConfigurationKey<HostPort?> {
        .optionalAddress(
            "\(ConfigurationNames.prefix)\(program.uppercased())_METRICS_LISTEN",
            help: "The address of \(program)'s /metrics for Prometheus, over HTTP; without it there is none."
        )
    }

    /// The keys of the database's address, which everything that uses it reads.
    public static let database: [any AnyConfigurationKey] = [
        databaseHost, databasePort, databaseName, databaseEngine, databaseInjectedConflicts, databasePooler,
        databaseDirectHost, databaseDirectPort, databaseTLS,
        databaseAuthorities,
    ]

    /// The keys of the log, which every program reads.
    public static let log: [any AnyConfigurationKey] = [logLevel, logFormat, logOutput]

    /// All shared keys.
    static let all: [any AnyConfigurationKey] =
        [
            identityAddress, profileAddress, invitesAddress, phoneRegion, phoneKinds, phoneRegions, servicesAuthorities,
            ClientAddressKey.key,
            eventLoops, connections, connectionsPerAddress,
            heldBytesMax, idleLimit, drainLimit, logCalls, reflection, Crashes.folder,
        ] + database + log
}
