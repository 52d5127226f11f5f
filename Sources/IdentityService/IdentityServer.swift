import API
import IdentityDomain
import KeyRings
import Logging
import Models
import OutgoingHTTP
import RPCTransport
import ServiceKit
import ServiceLifecycle
import ServiceStore

/// The program `identity`: accounts, sign-in and sessions, over gRPC.
public struct IdentityServer: AccountServer, WorkServer {
    /// The program's name.
    public static let programName = IdentityKeys.program
    /// All configuration keys that it reads.
    public static var configurationKeys: [any AnyConfigurationKey] { IdentityKeys.all }

    let runtime: ServiceRuntime
    let settings: IdentitySettings
    /// The addresses of the services that receive closed accounts; profile also serves operators' queries.
    private let profileAddress: AddressList
    private let invitesAddress: AddressList

    /// Reads keys and providers from a configuration; no I/O besides reading the files that the providers file names.
    ///
    /// - Throws: `ConfigurationErrors` with all errors found.
    public init(configuration: Configuration) throws {
        settings = try IdentitySettings(configuration)
        profileAddress = configuration[SharedKeys.profileAddress]
        invitesAddress = configuration[SharedKeys.invitesAddress]
        runtime = Self.runtime(configuration)
    }

    /// The runtime around the service.
    static func runtime(_ configuration: Configuration) -> ServiceRuntime {
        ServiceRuntime(keys: IdentityKeys.service, configuration: configuration, migrations: IdentityMigrations.all)
    }

    /// Looks at everything that a valid configuration names, and asks each provider for its keys.
    public static func examine(_ configuration: Configuration, report: (Finding) -> Void) async {
        for finding in Finding.faults({ _ = try IdentitySettings(configuration) }) { report(finding) }
        if let outdated = PasskeyExamination.finding(configuration) { report(outdated) }
        await examineCommonParts(configuration, report: report)
        await runtime(configuration).examine(
            rows: { try await PasskeyExamination.findings(configuration, in: $0) },
            report: report
        )
        for finding in await ProviderTrial.findings(configuration) { report(finding) }
    }

    /// Migrates the schema and returns.
    public func migrate() async throws {
        try await runtime.migrate()
    }

    /// Says what `migrate` would do, and changes nothing.
    public func migrationReport() async throws -> MigrationReport {
        try await runtime.migrationReport()
    }

    /// Which sessions an operator ends.
    public enum SessionSelection: Sendable, Hashable {
        /// All sessions, so that none that a restored or failed-over database brings back is accepted.
        case all
        /// All sessions begun before a time, in Unix milliseconds.
        case begunBefore(milliseconds: Int64)
        /// The sessions of one account, by its id, a UUID.
        case account(String)
    }

    /// Ends sessions.
    ///
    /// - Parameter isConfirmed: whether to do it; if false, nothing changes and the thrown error says what would.
    /// - Returns: a sentence for people about what was done.
    public func endSessions(_ which: SessionSelection, isConfirmed: Bool) async throws -> String {
        let ended: EndedSessions =
            switch which {
            case .all: .all
            case .begunBefore(let milliseconds): .begunBefore(milliseconds: milliseconds)
            case .account(let id): .account(try UserID(id, or: IdentityError.userIDInvalid))
            }
        return try await endSessions(ended, isConfirmed: isConfirmed)
    }

    private func endSessions(_ which: EndedSessions, isConfirmed: Bool) async throws -> String {
        try await runtime.withDatabase(timeout: IdentityStore.epochStatementLimit) { database in
            let store = IdentityStore(database: database, limits: settings.limits)
            let command = EndSessionsCommand(store: store, clock: .system)
            return try await command.run(which, isConfirmed: isConfirmed, logger: Logger(label: Self.programName))
        }
    }

    /// Makes a restored database ready: ends all sessions, and deletes accounts again that were deleted since the backup.
    ///
    /// - Parameters:
    ///   - log: lines with an account's id, the time and the reason, as `vestibule backup` keeps them.
    ///   - isConfirmed: whether to do it; if false, nothing changes and the thrown error says what would.
    /// - Returns: sentences for people about what was done.
    public func afterRestore(deletedAccounts log: String, isConfirmed: Bool) async throws -> [String] {
        try await runtime.withDatabase(timeout: IdentityStore.epochStatementLimit) { database in
            let store = IdentityStore(database: database, limits: settings.limits)
            let closed = log.split(separator: "\n").compactMap(ClosedAccountLine.init)
            return try await AfterRestoreCommand(store: store, clock: .system)
                .run(closed, isConfirmed: isConfirmed, logger: Logger(label: Self.programName))
        }
    }

    /// Runs an operator's command on held work. A retry of webhooks restarts their targets.
    public func work(_ command: WorkCommand) async throws -> [String] {
        try await runtime.withDatabase { database in
            let store = IdentityStore(database: database, limits: settings.limits)
            return try await WorkAdmin(
                database,
                nowMilliseconds: { WallClock.system.nowMilliseconds },
                retried: { try await store.restartWebhookTargets(of: $0) }
            ).run(command)
        }
    }

    /// Counts the rows of an account.
    public func trace(account id: String) async throws -> AccountTrace {
        let userID = try UserID(id, or: IdentityError.userIDInvalid)
        return try await runtime.withDatabase(timeout: AccountPlace.timeout) { database in
            try await IdentityStore(database: database, limits: settings.limits).trace(userID)
        }
    }

    /// Exports all data of an account, as a JSON object; the audit log records the export.
    public func export(account id: String) async throws -> String {
        let userID = try UserID(id, or: IdentityError.userIDInvalid)
        return try await runtime.withDatabase(timeout: AccountPlace.timeout) { database in
            let store = IdentityStore(database: database, limits: settings.limits)
            return try await store.export(userID, nowMilliseconds: WallClock.system.nowMilliseconds)
        }
    }

    /// Serves until SIGINT or SIGTERM, and returns after a graceful stop.
    public func serve() async throws {
        let trust = TrustStore.system()
        try await runtime.serve(rereads: settings.keySource != nil) { environment in
            tellProviders()
            let http = HTTPSClient(
                userAgent: "vestibule-identity",
                group: environment.group,
                trust: trust,
                proxies: settings.proxies
            )
            let webhooks = HTTPSClient(
                userAgent: "vestibule-webhooks",
                group: environment.group,
                limits: WebhookDeliverer.limits(
                    targets: settings.webhooks.count,
                    loops: environment.group.loops.count
                ),
                trust: trust,
                proxies: settings.proxies
            )
            let parts = IdentityParts(
                settings: settings,
                database: environment.database,
                group: environment.group,
                fetcher: HTTPKeyFetcher(http),
                http: http,
                webhooks: webhooks,
                profile: ProfileServiceClient(try environment.backgroundChannel(to: profileAddress)),
                invites: InvitesServiceClient(try environment.backgroundChannel(to: invitesAddress)),
                logger: environment.logger
            )
            for source in parts.metrics { environment.metrics.add(source) }
            var background: [any Service] = parts.closings + [parts.phoneProofs.runner]
            // A stop cancels requests to targets, which may take long, and their events are due again.
            background += parts.webhooks.runners.map { runner in BackgroundWork { try await runner.run() } }
            background.append(BackgroundWork { try await parts.logouts.run() })
            if environment.isMeasured {
                background += parts.closings.map { runner in BackgroundWork { await runner.watch() } }
                background += parts.webhooks.runners.map { runner in BackgroundWork { await runner.watch() } }
                background.append(BackgroundWork { await parts.logouts.watch() })
                background.append(BackgroundWork { await parts.phoneProofs.runner.watch() })
                background.append(BackgroundWork { await parts.webhooks.metrics.watch() })
            }
            return ServiceParts(
                services: [parts.methods, parts.oauthMethods, parts.operatorMethods],
                background: background + [
                    BackgroundWork { await parts.fetchProviderKeys() },
                    BackgroundWork { await parts.exchangeCodes() },
                    BackgroundWork { await parts.mindGrants() },
                    BackgroundWork { await parts.watchForPauses() },
                    BackgroundWork { await parts.acknowledge() },
                    BackgroundWork { await parts.tellRevocations() },
                    BackgroundWork { await parts.applyNotices() },
                    BackgroundWork { await parts.deleteScheduled() },
                    BackgroundWork { await parts.deleteUnusedGuests() },
                    BackgroundWork { await parts.webhooks.keepRegistered() },
                    BackgroundWork { await parts.absorb() },
                    BackgroundWork { await parts.cleanup.run() },
                    BackgroundWork { await parts.keyReader?.run() },
                    BackgroundWork { await parts.clientsReader?.run() },
                ],
                reread: {
                    await parts.keyReader?.read()
                    await parts.clientsReader?.read()
                },
                beginDrain: { parts.methods.revocations.stop() }
            )
        }
    }

    /// Logs what an operator should know about the providers: hints, and settings that leave something open.
    private func tellProviders() {
        let logger = Logger(label: Self.programName)
        for hint in settings.hints {
            logger.warning(
                "configuration",
                metadata: ["key": .string(hint.key), "problem": .string(hint.problem)]
            )
        }
        if settings.vault == nil, settings.providers.values.contains(where: { !$0.credentials.isEmpty }) {
            logger.warning("no token of a provider is kept, and none revoked: the folder of keys has no vault.json")
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
