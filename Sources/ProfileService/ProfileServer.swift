import API
import Logging
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceLifecycle

/// The profile service as a program: what the `profile` executable runs.
public struct ProfileServer: MigratingServer {
    /// The program's name, and the prefix of its configuration.
    public static let programName = "profile"
    private static let keys = ServiceKeys(program: programName, listenPort: 7002)

    /// Everything that can be configured.
    public static var configurationKeys: [any AnyConfigurationKey] { keys.all + ProfileConfiguration.keys }

    private let runtime: ServiceRuntime
    private let configuration: ProfileConfiguration
    private let addressKey: ClientAddressKey

    /// A server of this configuration; nothing is opened yet.
    ///
    /// - Throws: `ConfigurationFaults` for faults that only the service can see.
    public init(configuration: Configuration) throws {
        self.configuration = try ProfileConfiguration(configuration)
        self.addressKey = try ClientAddressKey(configuration, service: Self.programName)
        self.runtime = ServiceRuntime(
            keys: Self.keys,
            configuration: configuration,
            migrations: ProfileMigrations.all
        )
    }

    /// Brings the schema up to date.
    public func migrate() async throws { try await runtime.migrate() }

    /// Does what a person asks about the outbox, on the database that the configuration names.
    ///
    /// - Returns: lines for people.
    public func outbox(_ command: OutboxCommand) async throws -> [String] {
        try await runtime.withDatabase { try await command.run(on: $0) }
    }

    /// Serves until it is told to stop, and returns after a graceful stop.
    public func serve() async throws {
        try await runtime.serve { environment in
            let invites = InvitesServiceClient(try environment.channel(to: configuration.invitesAddress))
            let parts = ProfileParts(
                database: environment.database,
                invites: invites,
                policy: configuration.policy,
                limits: configuration.limits,
                addressKey: addressKey,
                logger: environment.logger
            )
            environment.metrics.add(parts.relay.metrics)
            var background: [any Service] = [parts.relay, BackgroundWork { await parts.cleanup.run() }]
            if environment.isMeasured { background.append(BackgroundWork { await parts.watchOutbox() }) }
            return ServiceParts(services: [parts.methods], background: background)
        }
    }
}

/// The service put together: its methods, and the relay that tells others what they changed.
struct ProfileParts: Sendable {
    let methods: ProfileMethods
    let relay: OutboxRelay<PhoneOutbox>
    let cleanup: QuotaCleanup
    private let outbox: PhoneOutbox
    private let logger: Logger

    init(
        database: PostgresClient,
        invites: InvitesServiceClient,
        policy: PhonePolicy = .philippines,
        limits: PhoneLimits = PhoneLimits(),
        addressKey: ClientAddressKey,
        clock: WallClock = .system,
        logger: Logger
    ) {
        let delivery = PhoneEventDelivery(invites: invites)
        let outbox = PhoneOutbox(database: database, clock: clock)
        self.outbox = outbox
        self.logger = logger
        let relay = OutboxRelay(
            store: outbox,
            logger: logger,
            deliver: { try await delivery.deliver($0) }
        )
        self.relay = relay
        self.cleanup = QuotaCleanup(database: database, logger: logger, nowMilliseconds: { clock.nowMilliseconds })
        self.methods = ProfileMethods(
            store: ProfileStore(database: database, identifiers: IdentifierSource(clock: clock), limits: limits),
            policy: policy,
            addressKey: addressKey,
            clock: clock,
            nudgeOutbox: { relay.nudge() }
        )
    }

    /// Looks at what waits in the outbox until the task is cancelled.
    func watchOutbox() async { await relay.metrics.watch(outbox, logger: logger) }
}
