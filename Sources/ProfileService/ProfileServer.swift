import API
import KeyRings
import Models
import ProfileDomain
import ServiceKit
import ServiceLifecycle
import ServiceModels
import ServiceStore

/// The program `profile`: names, usernames and phone numbers, over gRPC.
public struct ProfileServer: AccountServer, WorkServer {
    /// The program's name.
    public static let programName = ProfileKeys.program
    /// Every key that it reads.
    public static var configurationKeys: [any AnyConfigurationKey] { ProfileKeys.all }

    let runtime: ServiceRuntime
    let settings: ProfileSettings

    /// Reads the settings from a configuration; no I/O except for the folder of keys that it names.
    ///
    /// - Throws: `ConfigurationErrors` with every fault found.
    public init(configuration: Configuration) throws {
        settings = try ProfileSettings(configuration)
        runtime = Self.runtime(configuration)
    }

    private static func runtime(_ configuration: Configuration) -> ServiceRuntime {
        ServiceRuntime(keys: ProfileKeys.service, configuration: configuration, migrations: ProfileMigrations.all)
    }

    /// Looks at everything that a valid configuration names.
    public static func examine(_ configuration: Configuration, report: (Finding) -> Void) async {
        for finding in Finding.faults({ _ = try ProfileSettings(configuration) }) { report(finding) }
        await examineCommonParts(configuration, report: report)
        await runtime(configuration).examine(report: report)
    }

    /// Brings the schema up to date and returns.
    public func migrate() async throws {
        try await runtime.migrate()
    }

    /// Says what `migrate` would do, and changes nothing.
    public func migrationReport() async throws -> MigrationReport {
        try await runtime.migrationReport()
    }

    /// Runs an operator's command on held work: number events go to invites, webhook events to identity.
    public func work(_ command: WorkCommand) async throws -> [String] {
        try await runtime.withDatabase { try await WorkAdmin.profile($0, clock: .system).run(command) }
    }

    /// Counts the data of an account.
    public func trace(account id: String) async throws -> AccountTrace {
        let userID = try UserID(id, or: ProfileError.userIDInvalid)
        return try await runtime.withDatabase(timeout: AccountPlace.timeout) { database in
            try await AccountData.trace(userID, in: database)
        }
    }

    /// All data of an account, as a JSON object.
    public func export(account id: String) async throws -> String {
        let userID = try UserID(id, or: ProfileError.userIDInvalid)
        return try await runtime.withDatabase(timeout: AccountPlace.timeout) { database in
            try await AccountData.export(userID, in: database)
        }
    }

    /// Serves until SIGINT or SIGTERM, and returns after a graceful stop.
    public func serve() async throws {
        try await runtime.serve(rereads: settings.callerSource != nil) { environment in
            let invites = InvitesServiceClient(try environment.channel(to: settings.invitesAddress))
            let parts = ProfileParts(
                settings: settings,
                database: environment.database,
                group: environment.group,
                identity: IdentityServiceClient(try environment.channel(to: settings.identityAddress)),
                invites: invites,
                logger: environment.logger
            )
            for source in parts.metrics { environment.metrics.add(source) }
            var background: [any Service] = [
                parts.phoneEvents, parts.events.runner, BackgroundWork { await parts.events.ask() },
                BackgroundWork { await parts.cleanup.run() },
                BackgroundWork { await parts.keyReader?.run() },
            ]
            if environment.isMeasured {
                background.append(BackgroundWork { await parts.phoneEvents.watch() })
                background.append(BackgroundWork { await parts.events.runner.watch() })
            }
            return ServiceParts(
                services: [parts.methods],
                background: background,
                reread: { await parts.keyReader?.read() }
            )
        }
    }
}
