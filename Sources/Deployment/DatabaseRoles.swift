import LocalPostgres
import Postgres
import ServiceKit

/// Makes the database, and in it a login role with a schema of its own for each service: what must be there before the
/// services' migrations. It can be repeated; passwords are then set anew.
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
    static let services = [
        ServiceKeys(program: "identity", listenPort: 7001),
        ServiceKeys(program: "profile", listenPort: 7002),
        ServiceKeys(program: "invites", listenPort: 7003),
    ]

    /// Every key that it reads.
    public static var configurationKeys: [any AnyConfigurationKey] {
        var keys: [any AnyConfigurationKey] =
            [
                owner, ownerPassword, SharedKeys.databaseHost, SharedKeys.databasePort, SharedKeys.databaseName,
                SharedKeys.databaseTLS, SharedKeys.databaseAuthorities,
            ]
        for service in services { keys += [service.databaseUser, service.databasePassword, service.databaseSchema] }
        return keys
    }

    private let configuration: Configuration

    /// Roles as the configuration names them; nothing is opened yet.
    public init(configuration: Configuration) { self.configuration = configuration }

    /// Makes what is missing, under a lock, so that several may do it at once.
    ///
    /// - Returns: the roles.
    /// - Throws: `ConfigurationFaults` if a role has no password; `LocalPostgresError` for names that are no plain
    ///   identifiers; `AdministrativeSession.Failure`.
    public func make() async throws -> [String] {
        var faults = Self.services.filter { configuration[$0.databasePassword] == nil }.map {
            ConfigurationFault(key: $0.databasePassword.name, problem: "is required")
        }
        faults += configuration.databaseTLSFaults
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        let database = try ServiceRoleSQL.plainIdentifier(configuration[SharedKeys.databaseName])
        let lock = "vestibule.roles"
        try await makeDatabase(database, lock: lock)
        var made: [String] = []
        for service in Self.services {
            let role = configuration[service.databaseUser]
            let script = try ServiceRoleSQL.role(
                role,
                password: configuration[service.databasePassword]?.text ?? "",
                schema: configuration[service.databaseSchema],
                database: database
            )
            try await session(database).run(script, lock: lock)
            made.append(role)
        }
        return made
    }

    private func makeDatabase(_ database: String, lock: String) async throws {
        let first = session("postgres")
        let exists = try await first.run(ServiceRoleSQL.hasDatabase(database))
        guard exists.isEmpty else { return }
        do {
            try await first.run(ServiceRoleSQL.createDatabase(database), lock: lock)
        } catch AdministrativeSession.Failure.refused(let fault) where fault.state == .duplicateDatabase {
            // Another one was sooner.
        }
    }

    private func session(_ database: String) -> AdministrativeSession {
        var session = PostgresConfiguration(
            host: configuration[SharedKeys.databaseHost],
            port: configuration[SharedKeys.databasePort],
            user: configuration[Self.owner],
            password: configuration[Self.ownerPassword]?.text,
            database: database,
            applicationName: "vestibule-roles"
        )
        session.tls = configuration.databaseTLS
        return AdministrativeSession(session)
    }
}
