import Logging
import Models
import Postgres
import RPC
import ServiceKit

/// The invites service as a program: what the `invites` executable runs.
public struct InvitesServer: MigratingServer {
    /// The program's name, and the prefix of its configuration.
    public static let programName = "invites"
    private static let keys = ServiceKeys(program: programName, listenPort: 7003)

    /// Everything that can be configured.
    public static var configurationKeys: [any AnyConfigurationKey] { keys.all + InvitesConfiguration.keys }

    private let runtime: ServiceRuntime
    private let configuration: InvitesConfiguration
    private let addressKey: ClientAddressKey

    /// A server of this configuration; nothing is opened yet.
    ///
    /// - Throws: `ConfigurationFaults` for faults that only the service can see.
    public init(configuration: Configuration) throws {
        self.configuration = try InvitesConfiguration(configuration)
        self.addressKey = try ClientAddressKey(configuration, service: Self.programName)
        self.runtime = ServiceRuntime(
            keys: Self.keys,
            configuration: configuration,
            migrations: InvitesMigrations.all
        )
    }

    /// Brings the schema up to date.
    public func migrate() async throws { try await runtime.migrate() }

    /// Serves until it is told to stop, and returns after a graceful stop.
    public func serve() async throws {
        try await runtime.serve { environment in
            let parts = InvitesParts(
                database: environment.database,
                policy: configuration.policy,
                groupMembersMax: configuration.groupMembersMax,
                inboxRetention: configuration.inboxRetention,
                keyRetention: configuration.keyRetention,
                limits: configuration.limits,
                addressKey: addressKey,
                logger: environment.logger
            )
            return ServiceParts(
                services: [parts.methods],
                background: [BackgroundWork { await parts.cleanup.run() }, BackgroundWork { await parts.quotas.run() }]
            )
        }
    }
}

/// The service put together: its methods, and the tasks that keep its inbox and its counts small.
struct InvitesParts: Sendable {
    let methods: InvitesMethods
    let cleanup: InboxCleanup
    let quotas: QuotaCleanup

    init(
        database: PostgresClient,
        policy: PhonePolicy = .philippines,
        groupMembersMax: Int = 1_000,
        inboxRetention: Duration = .seconds(7 * 86_400),
        keyRetention: Duration = .seconds(86_400),
        limits: InvitesLimits = InvitesLimits(),
        addressKey: ClientAddressKey,
        clock: WallClock = .system,
        logger: Logger
    ) {
        let phones = PhoneStore(database: database)
        let groups = GroupStore(database: database)
        methods = InvitesMethods(
            groups: groups,
            members: MemberStore(database: database),
            phones: phones,
            policy: policy,
            groupMembersMax: groupMembersMax,
            limits: limits,
            addressKey: addressKey,
            clock: clock,
            identifiers: IdentifierSource(clock: clock)
        )
        quotas = QuotaCleanup(database: database, logger: logger, nowMilliseconds: { clock.nowMilliseconds })
        cleanup = InboxCleanup(
            phones: phones,
            groups: groups,
            clock: clock,
            retention: inboxRetention,
            keyRetention: keyRetention,
            logger: logger
        )
    }
}
