import LocalPostgres
import Postgres
import ServiceKit
import ServiceStore

/// The configuration keys of `vestibule backup` and `vestibule restore`.
public enum BackupKeys {
    /// The login role of the database that reads backups.
    public static let roleDefault = "vestibule_backup"
    /// The folder of all backups.
    public static let folder = ConfigurationKey.optionalPath(
        "VESTIBULE_BACKUP_FOLDER",
        isRequired: true,
        help: "The folder for backups, on another disk or machine than the database."
    )
    /// The role that reads them.
    public static let role = ConfigurationKey.string(
        "VESTIBULE_BACKUP_DATABASE_USER",
        default: roleDefault,
        help: "The role of the database that reads backups; it needs REPLICATION and pg_read_all_data.",
        lengthMax: 63
    )
    /// Its password.
    public static let password = ConfigurationKey.optionalSecret(
        "VESTIBULE_BACKUP_DATABASE_PASSWORD",
        help: "The password of that role."
    )
    /// How often `vestibule backup follow` makes a whole backup.
    public static let interval = ConfigurationKey.duration(
        "VESTIBULE_BACKUP_EVERY",
        in: .seconds(60) ... .seconds(30 * 86_400),
        default: .seconds(86_400),
        help: "How often `vestibule backup follow` makes a whole backup."
    )
    /// How many whole backups are kept.
    public static let keptCount = ConfigurationKey.int(
        "VESTIBULE_BACKUP_KEEP",
        in: 1...1000,
        default: 7,
        help: "How many whole backups are kept, with the write-ahead log since the oldest."
    )
    /// What is sealed beside the database.
    public static let secrets = ConfigurationKey.optionalList(
        "VESTIBULE_BACKUP_SECRETS",
        help:
            "Files and folders with keys and configuration, separated by commas, that each backup seals into one file."
    )
    /// Who can open it.
    public static let recipient = ConfigurationKey.optionalPath(
        "VESTIBULE_BACKUP_RECIPIENT_FILE",
        help: "The certificate (PEM) for whose private key they are sealed. Keep that key elsewhere."
    )

    /// Where `vestibule backup follow` serves its metrics.
    public static let metricsListen = SharedKeys.metricsListen(program: "backup")

    /// All keys of the commands.
    public static var all: [any AnyConfigurationKey] {
        [
            folder, role, password, interval, keptCount, secrets, recipient, metricsListen, SharedKeys.databaseHost,
            SharedKeys.databasePort, SharedKeys.databaseDirectHost, SharedKeys.databaseDirectPort,
            SharedKeys.databaseEngine, SharedKeys.databaseInjectedConflicts, SharedKeys.databasePooler,
            SharedKeys.databaseName, SharedKeys.databaseTLS, SharedKeys.databaseAuthorities,
            identity.databaseSchema,
        ]
    }

    static let identity = ServiceKeys(program: "identity", listenPort: 7001)
}

/// What the keys say.
public struct BackupSettings: Sendable {
    /// The folder of backups.
    public let folder: BackupFolder
    /// How often a whole backup is made.
    public let interval: Duration
    /// Where `vestibule backup follow` serves its metrics; nil for nowhere.
    public let metricsListen: HostPort?
    let keptCount: Int
    let secrets: [String]
    let recipientFile: String?
    let database: PostgresConfiguration
    let identitySchema: String

    /// Reads the keys; opens nothing.
    ///
    /// - Throws: `ConfigurationErrors` with all faults.
    public init(_ configuration: Configuration) throws {
        var faults = configuration.databaseTLSFaults
        let path = configuration[BackupKeys.folder]
        if path == nil { faults.append(ConfigurationError(key: BackupKeys.folder.name, problem: "is required")) }
        let (secrets, recipient) = (configuration[BackupKeys.secrets] ?? [], configuration[BackupKeys.recipient])
        if secrets.isEmpty != (recipient == nil) {
            let (missing, given) =
                recipient == nil
                ? (BackupKeys.recipient.name, BackupKeys.secrets.name)
                : (BackupKeys.secrets.name, BackupKeys.recipient.name)
            faults.append(ConfigurationError(key: missing, problem: "is required if \(given) is given"))
        }
        do {
            identitySchema = try ServiceRoleSQL.plainIdentifier(configuration[BackupKeys.identity.databaseSchema])
        } catch {
            identitySchema = ""
            faults.append(ConfigurationError(key: BackupKeys.identity.databaseSchema.name, problem: "\(error)"))
        }
        guard faults.isEmpty, let path else { throw ConfigurationErrors(faults) }
        folder = BackupFolder(path: path)
        interval = configuration[BackupKeys.interval]
        keptCount = configuration[BackupKeys.keptCount]
        metricsListen = configuration[BackupKeys.metricsListen]
        self.secrets = secrets
        recipientFile = recipient
        var database = configuration.postgres(
            user: configuration[BackupKeys.role],
            password: configuration[BackupKeys.password]?.text,
            database: configuration[SharedKeys.databaseName],
            applicationName: "vestibule-backup",
            settings: DatabaseSettings(user: BackupKeys.role.name, password: BackupKeys.password.name)
        )
        // Poolers don't speak the replication protocol.
        if let direct = database.direct { (database.host, database.port) = direct }
        (database.direct, database.pooler) = (nil, .none)
        self.database = database
    }
}

/// Why a backup or a restore failed: one line for people.
public struct BackupError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line.
    public let description: String

    init(_ description: String) { self.description = description }
}
