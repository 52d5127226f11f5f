import API
import ServiceKit
import ServiceLifecycle
import ServiceStore

/// The program `profile`: names, usernames and phone numbers, over gRPC.
public struct ProfileServer: MigratingServer {
    /// The program's name.
    public static let programName = ProfileKeys.program
    /// Every key that it reads.
    public static var configurationKeys: [any AnyConfigurationKey] { ProfileKeys.all }

    private let runtime: ServiceRuntime
    private let settings: ProfileSettings

    /// Reads the settings from a configuration; no I/O.
    ///
    /// - Throws: `ConfigurationFaults` with every fault found.
    public init(configuration: Configuration) throws {
        settings = try ProfileSettings(configuration)
        runtime = ServiceRuntime(
            keys: ProfileKeys.service,
            configuration: configuration,
            migrations: ProfileMigrations.all
        )
    }

    /// Brings the schema up to date and returns.
    public func migrate() async throws {
        try await runtime.migrate()
    }

    /// Does what a person asks about the outbox, on the database that the configuration names.
    ///
    /// - Returns: lines for people.
    public func outbox(_ command: OutboxCommand) async throws -> [String] {
        try await runtime.withDatabase { try await command.run(on: $0) }
    }

    /// Serves until the process is told to stop, and returns after a graceful stop.
    public func serve() async throws {
        try await runtime.serve { environment in
            let invites = InvitesServiceClient(try environment.channel(to: settings.invitesAddress))
            let parts = ProfileParts(
                settings: settings,
                database: environment.database,
                invites: invites,
                logger: environment.logger
            )
            for source in parts.metrics { environment.metrics.add(source) }
            var background: [any Service] = [parts.relay, BackgroundWork { await parts.cleanup.run() }]
            if environment.isMeasured { background.append(BackgroundWork { await parts.watchOutbox() }) }
            return ServiceParts(services: [parts.methods], background: background)
        }
    }
}
