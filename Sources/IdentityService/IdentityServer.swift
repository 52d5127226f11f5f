import IdentityDomain
import Logging
import Models
import OutgoingHTTP
import ServiceKit
import ServiceStore

/// The program `identity`: accounts, sign-in and sessions, over gRPC.
public struct IdentityServer: MigratingServer {
    /// The program's name.
    public static let programName = IdentityKeys.program
    /// Every key that it reads.
    public static var configurationKeys: [any AnyConfigurationKey] { IdentityKeys.all }

    private let runtime: ServiceRuntime
    private let settings: IdentitySettings

    /// Reads keys and providers from a configuration; no I/O but of the files that the providers file names.
    ///
    /// - Throws: `ConfigurationFaults` with every fault found.
    public init(configuration: Configuration) throws {
        settings = try IdentitySettings(configuration)
        runtime = Self.runtime(configuration)
    }

    /// What is around the service.
    static func runtime(_ configuration: Configuration) -> ServiceRuntime {
        ServiceRuntime(keys: IdentityKeys.service, configuration: configuration, migrations: IdentityMigrations.all)
    }

    /// Brings the schema up to date and returns.
    public func migrate() async throws {
        try await runtime.migrate()
    }

    /// Ends all sessions of everybody, so that nothing that a restored or failed-over database believes again is believed.
    ///
    /// - Parameter isConfirmed: whether to do it; without it nothing changes and the throw says what would.
    /// - Returns: what was done, in a sentence for people.
    public func endSessions(isConfirmed: Bool) async throws -> String {
        try await runtime.withDatabase(timeout: IdentityStore.epochStatementLimit) { database in
            let store = IdentityStore(database: database, limits: settings.limits)
            let command = EndSessionsCommand(store: store, clock: .system)
            return try await command.run(isConfirmed: isConfirmed, logger: Logger(label: Self.programName))
        }
    }

    /// Serves until the process is told to stop, and returns after a graceful stop.
    public func serve() async throws {
        tellProviders()
        let trust = TrustStore.system()
        try await runtime.serve { environment in
            let http = HTTPSClient(
                userAgent: "vestibule-identity",
                group: environment.group,
                trust: trust,
                proxies: settings.proxies
            )
            let parts = IdentityParts(
                settings: settings,
                database: environment.database,
                group: environment.group,
                fetcher: HTTPKeyFetcher(http),
                http: http,
                logger: environment.logger
            )
            for source in parts.metrics { environment.metrics.add(source) }
            return ServiceParts(
                services: [parts.methods],
                background: [
                    BackgroundWork { await parts.fetchProviderKeys() },
                    BackgroundWork { await parts.exchangeCodes() },
                    BackgroundWork { await parts.watchForPauses() },
                    BackgroundWork { await parts.cleanup.run() },
                    BackgroundWork { await parts.numbering.run() },
                ]
            )
        }
    }

    /// Logs what an operator should know of the providers: what should be mended, and what was switched on that leaves
    /// something open.
    private func tellProviders() {
        let logger = Logger(label: Self.programName)
        for hint in settings.hints {
            logger.warning(
                "configuration",
                metadata: ["key": .string(hint.key), "problem": .string(hint.problem)]
            )
        }
        for provider in settings.providers.values.map(\.policy).sorted(by: { $0.name < $1.name }) {
            let fresh = provider.audiences.values.filter { $0.withoutNonce == .fresh }.map(\.id).sorted()
            if fresh.isEmpty { continue }
            logger.notice(
                "tokens without a proven nonce sign in while they are fresh",
                metadata: [
                    "provider": "\(provider.name)", "audiences": .string(fresh.joined(separator: ", ")),
                    "leaves_open": .string(AudiencePolicy.freshLeavesOpen),
                ]
            )
        }
    }
}
