import Backup
import LocalPostgres
import Postgres
import ServiceKit
import ServiceStore

/// Prepares the database before the services' migrations: makes the database, and for each service a schema, a login role
/// that owns it, for migrations, and a login role of the service. If no owner is configured, one role has both uses. A role for
/// backups is made if it has a password. It can be repeated; then it sets the passwords again, and gives a schema with one role its owner.
public struct DatabaseRoles: Sendable {
    static let owner = ConfigurationKey.string(
        "VESTIBULE_ROLES_OWNER",
        default: "postgres",
        help: "The superuser that makes the roles.",
        lengthMax: 63
    )
    static let ownerPassword = ConfigurationKey.optionalSecret(
        "VESTIBULE_ROLES_OWNER_PASSWORD",
        help: "The superuser's password."
    )
    static let closesCluster = ConfigurationKey.bool(
        "VESTIBULE_ROLES_CLOSE_CLUSTER",
        default: false,
        help: "Whether only superusers may use the databases postgres and template1; for a cluster of Vestibule's own."
    )
    static let services = [
        ServiceKeys(program: "identity", listenPort: 7001),
        ServiceKeys(program: "profile", listenPort: 7002),
        ServiceKeys(program: "invites", listenPort: 7003),
    ]

    /// All keys that it reads.
    public static var configurationKeys: [any AnyConfigurationKey] {
        var keys: [any AnyConfigurationKey] =
            [
                owner, ownerPassword, closesCluster, BackupKeys.role, BackupKeys.password,
            ] + SharedKeys.database
        for service in services {
            keys += [service.databaseUser, service.databasePassword, service.databaseOwner]
            keys += [service.databaseOwnerPassword, service.databaseSchema]
        }
        return keys
    }

    private let configuration: Configuration

    /// The roles in the configuration; opens no connection yet.
    public init(configuration: Configuration) { self.configuration = configuration }

    /// Makes what is missing, under a lock, so that several processes may do it concurrently.
    ///
    /// - Returns: the roles.
    /// - Throws: `ConfigurationErrors` if a role has no password; `LocalPostgresError` for names that are not plain
    ///   identifiers; `AdministrativeSession.Failure`.
    public func make() async throws -> [String] {
        let missing = Self.services.flatMap { service in
            let hasOwner = configuration[service.databaseOwner] != nil
            return [service.databasePassword] + (hasOwner ? [service.databaseOwnerPassword] : [])
        }
        .filter { configuration[$0] == nil }
        var faults = missing.map { ConfigurationError(key: $0.name, problem: "is required") }
        faults += configuration.databaseTLSFaults
        guard faults.isEmpty else { throw ConfigurationErrors(faults) }
        let database = try ServiceRoleSQL.plainIdentifier(configuration[SharedKeys.databaseName])
        let lock = "vestibule.roles"
        try await makeDatabase(database, lock: lock)
        var made: [String] = []
        for service in Self.services {
            try await session(database).run(try script(service, database), lock: lock, isSecret: true)
            made.append(configuration[service.databaseUser])
            if let owner = configuration[service.databaseOwner] { made.append(owner) }
        }
        if let password = configuration[BackupKeys.password] {
            let role = configuration[BackupKeys.role]
            let script = try ServiceRoleSQL.backupRole(role, password: password.text, database: database)
            try await session(database).run(script, lock: lock, isSecret: true)
            made.append(role)
        }
        if configuration[Self.closesCluster] {
            try await session("postgres").run(ServiceRoleSQL.closeCluster, lock: lock)
        }
        return made
    }

    private func script(_ service: ServiceKeys, _ database: String) throws -> String {
        let (role, schema) = (configuration[service.databaseUser], configuration[service.databaseSchema])
        let password = configuration[service.databasePassword]?.text ?? ""
        guard let owner = configuration[service.databaseOwner] else {
            return try ServiceRoleSQL.role(role, password: password, schema: schema, database: database)
        }
        return try ServiceRoleSQL.roles(
            role,
            password: password,
            owner: owner,
            ownerPassword: configuration[service.databaseOwnerPassword]?.text ?? "",
            schema: schema,
            database: database
        )
    }

    private func makeDatabase(_ database: String, lock: String) async throws {
        let first = session("postgres")
        let exists = try await first.run(ServiceRoleSQL.hasDatabase(database))
        guard exists.isEmpty else { return }
        do {
            try await first.run(ServiceRoleSQL.createDatabase(database), lock: lock)
        } catch AdministrativeSession.Failure.refused(let fault) where fault.state == .duplicateDatabase {
            // Another process has made it meanwhile.
        }
    }

    private func session(_ database: String) -> AdministrativeSession {
        AdministrativeSession(
            configuration.postgres(
                user: configuration[Self.owner],
                password: configuration[Self.ownerPassword]?.text,
                database: database,
                applicationName: "vestibule-roles",
                settings: DatabaseSettings(user: Self.owner.name, password: Self.ownerPassword.name)
            )
        )
    }
}
