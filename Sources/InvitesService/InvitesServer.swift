import ServiceKit
import ServiceStore

/// The program `invites`: groups, their members and those they wait for, over gRPC.
public struct InvitesServer: MigratingServer {
    /// The program's name.
    public static let programName = InvitesKeys.program
    /// Every key that it reads.
    public static var configurationKeys: [any AnyConfigurationKey] { InvitesKeys.all }

    private let runtime: ServiceRuntime
    private let settings: InvitesSettings

    /// Reads the settings from a configuration; no I/O.
    ///
    /// - Throws: `ConfigurationFaults` with every fault found.
    public init(configuration: Configuration) throws {
        settings = try InvitesSettings(configuration)
        runtime = ServiceRuntime(
            keys: InvitesKeys.service,
            configuration: configuration,
            migrations: InvitesMigrations.all
        )
    }

    /// Brings the schema up to date and returns.
    public func migrate() async throws {
        try await runtime.migrate()
    }

    /// Serves until the process is told to stop, and returns after a graceful stop.
    public func serve() async throws {
        try await runtime.serve { environment in
            let parts = InvitesParts(settings: settings, database: environment.database, logger: environment.logger)
            return ServiceParts(
                services: [parts.methods],
                background: [BackgroundWork { await parts.cleanup.run() }]
            )
        }
    }
}
