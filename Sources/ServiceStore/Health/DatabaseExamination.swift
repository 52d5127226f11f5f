import FoundationEssentials
import Logging
import Postgres
import RPC
import RPCTransport
import ServiceKit

/// What the doctor looks at in a service's database.
struct DatabaseExamination: Sendable {
    let keys: ServiceKeys
    let configuration: Configuration
    let schema: SchemaCheck
    /// Examines what the service's tables have.
    let rows: @Sendable (PostgresClient) async throws -> [Finding]

    /// How long each question may take, the connection included.
    private static let limit: Duration = .seconds(8)
    /// The oldest major version that is tested.
    private static let oldestMajor = 15
    /// As the alert `ClockDiffers`.
    private static let clockOffsetMax = 5.0

    /// Connects as the service, and as the owner of its tables if there is one.
    func findings(_ service: PostgresConfiguration, owner: PostgresConfiguration?) async -> [Finding] {
        let found = await findings(service)
        guard !found.hasFailure, let owner else { return found }
        do {
            try await AdministrativeSession(silent(owner)).run("SELECT 1")
            return found
        } catch {
            return found + [unreachable(error, DatabaseSettings(ownerOf: keys))]
        }
    }

    private func findings(_ service: PostgresConfiguration) async -> [Finding] {
        do {
            return try await withEventLoopGroup(loopCount: 1, name: "doctor") { group in
                try await withPostgresClient(silent(service), group: group) { await findings(of: $0) }
            }
        } catch {
            return [unreachable(error, DatabaseSettings(keys))]
        }
    }

    /// A configuration whose failures are the doctor's to word.
    private func silent(_ configuration: PostgresConfiguration) -> PostgresConfiguration {
        var configuration = configuration
        (configuration.advice, configuration.directAdvice, configuration.onConnectionFailure) = (nil, nil, nil)
        configuration.connectionsPerLoop = 1
        configuration.statementTimeout = Self.limit
        return configuration
    }

    private func findings(of database: PostgresClient) async -> [Finding] {
        let state: DatabaseState
        let server: Server
        do {
            state = try await DatabaseState.read(
                from: database,
                nowMilliseconds: { Int64(Date().timeIntervalSince1970 * 1000) },
                deadline: .after(Self.limit)
            )
            server = try await Server.read(from: database, deadline: .after(Self.limit))
        } catch {
            return [unreachable(error, DatabaseSettings(keys))]
        }
        var findings = state.findings(clockOffsetMax: Self.clockOffsetMax) + server.findings(keys, configuration)
        do {
            try await schema.run(on: database, deadline: .after(Self.limit))
            findings += (try? await rows(database)) ?? []
        } catch {
            let mend =
                error is MigrationError
                ? nil : "see \(keys.databaseUser.name); `vestibule roles` grants what a role needs"
            findings.append(
                Finding(.failure, keys.databaseSchema.name, "names a schema that can't be used: \(error)", mend: mend)
            )
        }
        return findings
    }

    private func unreachable(_ error: any Error, _ settings: DatabaseSettings) -> Finding {
        let reason =
            switch error {
            case PostgresError.unavailable(let reason), AdministrativeSession.Failure.unavailable(let reason): reason
            default: "\(error)"
            }
        guard let fault = ConnectionFault(reason: reason) else {
            return Finding(.failure, SharedKeys.databaseHost.name, "names a database that can't be used: \(reason)")
        }
        let problem = "doesn't lead to the database: \(reason)"
        return Finding(.failure, settings.key(of: fault), problem, mend: settings.advice(fault))
    }

    /// What the server says of itself and of our role.
    struct Server: Sendable, Hashable {
        /// Such as 150004.
        let versionNumber: Int
        let isSuperuser: Bool
        /// Connections that the server takes, without those that it reserves for superusers.
        let connectionsMax: Int

        static func read(from database: PostgresClient, deadline: Deadline) async throws -> Server {
            let rows = try await database.query(
                """
                SELECT current_setting('server_version_num')::int4, current_setting('is_superuser') = 'on',
                    current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4
                """,
                deadline: deadline
            )
            let (version, isSuperuser, connections) = try rows[0].decode(Int32.self, Bool.self, Int32.self)
            return Server(versionNumber: Int(version), isSuperuser: isSuperuser, connectionsMax: Int(connections))
        }

        func findings(_ keys: ServiceKeys, _ configuration: Configuration) -> [Finding] {
            var findings: [Finding] = []
            if versionNumber / 10_000 < oldestMajor {
                let problem = "leads to PostgreSQL \(versionNumber / 10_000)"
                findings.append(
                    Finding(.failure, SharedKeys.databaseHost.name, problem, mend: "use \(oldestMajor) or later")
                )
            }
            if isSuperuser {
                findings.append(
                    Finding(
                        .warning,
                        keys.databaseUser.name,
                        "names a superuser, who may read and change everything of the server",
                        mend: "use a role that `vestibule roles` makes"
                    )
                )
            }
            let wanted = SharedKeys.loopCount(configuration) * configuration[keys.databaseConnections]
            // A third each, since three services share the server.
            if wanted * 3 > connectionsMax, configuration[SharedKeys.databasePooler] == .none {
                findings.append(
                    Finding(
                        .warning,
                        keys.databaseConnections.name,
                        "lets a replica open \(wanted) connections, and PostgreSQL takes \(connectionsMax) of all services",
                        mend: "lower it or VESTIBULE_EVENT_LOOPS, raise max_connections, or use a pooler"
                    )
                )
            }
            return findings
        }
    }
}

extension DatabaseState {
    /// What is wrong with it.
    func findings(clockOffsetMax: Double) -> [Finding] {
        let key = SharedKeys.databaseHost.name
        var findings: [Finding] = []
        if !takesWrites {
            findings.append(
                Finding(
                    .failure,
                    key,
                    "leads to a PostgreSQL that takes no writes",
                    mend: "name the primary, or set default_transaction_read_only off"
                )
            )
        }
        if abs(clockOffset) > clockOffsetMax {
            let isFailure = abs(clockOffset) > DatabaseWatch.clockOffsetMax
            findings.append(
                Finding(
                    isFailure ? .failure : .warning,
                    key,
                    "leads to a PostgreSQL whose clock differs from this machine's by \(Int(abs(clockOffset).rounded())) s",
                    mend: "look at NTP on both machines"
                )
            )
        }
        return findings
    }
}
