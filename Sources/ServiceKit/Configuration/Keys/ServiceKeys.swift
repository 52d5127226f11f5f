/// The keys that every gRPC service has under its own name.
public struct ServiceKeys: Sendable {
    /// The service's name, such as `identity`.
    public let program: String
    /// Where it listens.
    public let listen: ConfigurationKey<HostPort>
    /// Whether it may listen where other machines reach it without knowing who calls.
    public let insecure: ConfigurationKey<Bool>
    /// Where it serves its metrics; nil for nowhere.
    public let metricsListen: ConfigurationKey<HostPort?>
    /// Its login role.
    public let databaseUser: ConfigurationKey<String>
    /// The role's password; nil where PostgreSQL trusts the connection otherwise.
    public let databasePassword: ConfigurationKey<Secret?>
    /// The login role that owns the schema, for migrations; nil where the service's role does both.
    public let databaseOwner: ConfigurationKey<String?>
    /// The owner's password.
    public let databaseOwnerPassword: ConfigurationKey<Secret?>
    /// Its schema.
    public let databaseSchema: ConfigurationKey<String>
    /// How many connections each event loop may hold.
    public let databaseConnections: ConfigurationKey<Int>
    /// How long a statement may take.
    public let databaseTimeout: ConfigurationKey<Duration>
    /// How long a statement may wait for a lock.
    public let databaseLockTimeout: ConfigurationKey<Duration>
    /// Whether `serve` applies migrations first.
    public let migrate: ConfigurationKey<Bool>
    /// Who may reach its port by which name and protocol.
    public let port: ServicePortKeys
    /// TLS on its port.
    public let tls: ServerTLSKeys
    /// TLS of its calls to others.
    public let channels: ChannelKeys

    /// The keys of a service.
    ///
    /// - Parameters:
    ///   - program: its name, which is also the default schema and, after `vestibule_`, the default role.
    ///   - listenPort: the default port.
    public init(program: String, listenPort: Int) {
        let prefix = ConfigurationNames.prefix + program.uppercased()
        self.program = program
        listen = .address(
            "\(prefix)_LISTEN",
            default: "127.0.0.1:\(listenPort)",
            help:
                "The address that \(program) listens on. On any but a loopback address, callers must show certificates."
        )
        insecure = .bool(
            "\(prefix)_INSECURE",
            default: false,
            help:
                "Whether \(program) may listen on an address that is not loopback without TLS, client certificates and "
                + "rules of who may call what. Everyone who reaches it can then read and change everything."
        )
        metricsListen = SharedKeys.metricsListen(program: program)
        databaseUser = .string(
            "\(prefix)_DATABASE_USER",
            default: "vestibule_\(program)",
            help: "The role that \(program) logs in as.",
            lengthMax: 63
        )
        databasePassword = .optionalSecret("\(prefix)_DATABASE_PASSWORD", help: "The role's password.")
        databaseOwner = .optionalString(
            "\(prefix)_DATABASE_OWNER",
            help: "The role that owns \(program)'s schema, for migrations; without it the role that it logs in as.",
            lengthMax: 63
        )
        databaseOwnerPassword = .optionalSecret("\(prefix)_DATABASE_OWNER_PASSWORD", help: "The owner's password.")
        databaseSchema = .string(
            "\(prefix)_DATABASE_SCHEMA",
            default: program,
            help: "The schema that holds \(program)'s tables.",
            lengthMax: 63
        )
        databaseConnections = .int(
            "\(prefix)_DATABASE_CONNECTIONS",
            in: 1...256,
            default: 4,
            help: "Connections to PostgreSQL for each event loop."
        )
        databaseTimeout = .duration(
            "\(prefix)_DATABASE_TIMEOUT",
            in: .milliseconds(10) ... .seconds(300),
            default: .seconds(5),
            help: "How long a statement may take, or a call wait for a connection."
        )
        databaseLockTimeout = .duration(
            "\(prefix)_DATABASE_LOCK_TIMEOUT",
            in: .milliseconds(10) ... .seconds(60),
            default: .milliseconds(1500),
            help: "How long a statement may wait for a lock."
        )
        migrate = .bool(
            "\(prefix)_MIGRATE",
            default: false,
            help: "Whether `serve` applies migrations before it listens."
        )
        port = ServicePortKeys(program: program)
        tls = ServerTLSKeys(program: program)
        channels = ChannelKeys(program: program)
    }

    /// These keys and the shared ones that every gRPC service reads.
    public var all: [any AnyConfigurationKey] {
        let own: [any AnyConfigurationKey] = [
            listen, insecure, metricsListen, databaseUser, databasePassword, databaseOwner, databaseOwnerPassword,
            databaseSchema, databaseConnections, databaseTimeout, databaseLockTimeout, migrate,
        ]
        return own + port.all + tls.all + channels.all
            + SharedKeys.database
            + [
                SharedKeys.eventLoops, SharedKeys.connections,
                SharedKeys.connectionsPerAddress, SharedKeys.heldBytesMax, SharedKeys.idleLimit, SharedKeys.drainLimit,
                SharedKeys.logCalls, SharedKeys.reflection, Crashes.folder,
            ] + SharedKeys.log + TraceKeys.all
    }
}
