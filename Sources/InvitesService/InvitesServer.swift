import API
import InvitesDomain
import KeyRings
import Models
import ServiceKit
import ServiceLifecycle
import ServiceModels
import ServiceStore

/// The program `invites`: groups, their members and pending members, over gRPC.
public struct InvitesServer: AccountServer, WorkServer {
    /// The program's name.
    public static let programName = InvitesKeys.program
    /// Every key that it reads.
    public static var configurationKeys: [any AnyConfigurationKey] { InvitesKeys.all }

    private let runtime: ServiceRuntime
    private let settings: InvitesSettings

    /// Reads the settings from a configuration; no I/O except for the folder of keys that it names.
    ///
    /// - Throws: `ConfigurationErrors` with every fault found.
    public init(configuration: Configuration) throws {
        settings = try InvitesSettings(configuration)
        runtime = Self.runtime(configuration)
    }

    private static func runtime(_ configuration: Configuration) -> ServiceRuntime {
        ServiceRuntime(keys: InvitesKeys.service, configuration: configuration, migrations: InvitesMigrations.all)
    }

    /// Looks at everything that a valid configuration names.
    public static func examine(_ configuration: Configuration, report: (Finding) -> Void) async {
        for finding in Finding.faults({ _ = try InvitesSettings(configuration) }) { report(finding) }
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

    /// Runs an operator's command on held work: webhook events go to identity.
    public func work(_ command: WorkCommand) async throws -> [String] {
        try await runtime.withDatabase { database in
            try await WorkAdmin(database) { WallClock.system.nowMilliseconds }.run(command)
        }
    }

    /// Counts the data of an account.
    public func trace(account id: String) async throws -> AccountTrace {
        let userID = try UserID(id, or: InvitesError.userIDInvalid)
        return try await runtime.withDatabase(timeout: AccountPlace.timeout) { database in
            try await AccountStore(database: database).trace(userID)
        }
    }

    /// All data of an account, as a JSON object.
    public func export(account id: String) async throws -> String {
        let userID = try UserID(id, or: InvitesError.userIDInvalid)
        return try await runtime.withDatabase(timeout: AccountPlace.timeout) { database in
            try await AccountStore(database: database).export(userID)
        }
    }

    /// Serves until SIGINT or SIGTERM, and returns after a graceful stop.
    public func serve() async throws {
        try await runtime.serve(rereads: settings.callerSource != nil) { environment in
            let parts = InvitesParts(
                settings: settings,
                database: environment.database,
                group: environment.group,
                identity: IdentityServiceClient(try environment.backgroundChannel(to: settings.identityAddress)),
                logger: environment.logger
            )
            environment.metrics.add(WorkMetricsList([parts.events.runner.metrics]))
            environment.metrics.add(parts.groupEvents)
            environment.metrics.add(parts.closings.metrics)
            if let keyReader = parts.keyReader { environment.metrics.add(keyReader) }
            var background: [any Service] = [
                parts.events.runner, BackgroundWork { await parts.events.ask() },
                BackgroundWork { await parts.cleanup.run() }, BackgroundWork { await parts.keyReader?.run() },
                BackgroundWork { await parts.groupEvents.run() }, BackgroundWork { await parts.closings.run() },
            ]
            if environment.isMeasured { background.append(BackgroundWork { await parts.events.runner.watch() }) }
            return ServiceParts(
                services: [parts.groupMethods, parts.methods],
                background: background,
                reread: { await parts.keyReader?.read() },
                beginDrain: { parts.groupEvents.stop() },
                interceptors: [ChangeAnnouncer(groupEvents: parts.groupEvents)]
            )
        }
    }
}
