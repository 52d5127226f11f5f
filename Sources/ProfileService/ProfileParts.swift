import API
import Logging
import Models
import Postgres
import ServiceKit
import ServiceModels
import ServiceStore

/// The service's parts, put together: what is registered and what runs beside it.
struct ProfileParts: Sendable {
    /// The pause between rounds of cleaning up.
    static let cleanupInterval: Duration = .seconds(600)

    /// The methods of `vestibule.profile.v1.ProfileService`.
    let methods: ProfileMethods
    /// What the service measures.
    let metrics: [any MetricsSource]
    /// Tells invites what became of phone numbers.
    let relay: OutboxRelay<PhoneOutbox>
    /// Deletes what is over.
    let cleanup: Cleanup
    private let outbox: PhoneOutbox
    private let logger: Logger

    /// Puts the parts together. Nothing happens before they are registered and run.
    init(
        settings: ProfileSettings,
        database: PostgresClient,
        invites: InvitesServiceClient,
        clock: WallClock = .system,
        logger: Logger
    ) {
        let delivery = PhoneEventDelivery(invites: invites)
        let outbox = PhoneOutbox(database: database, clock: clock)
        let relay = OutboxRelay(
            store: outbox,
            logger: logger,
            deliver: { try await delivery.deliver($0) }
        )
        self.outbox = outbox
        self.relay = relay
        metrics = [relay.metrics]
        self.logger = logger
        cleanup = Cleanup(every: Self.cleanupInterval, [QuotaStore.cleanup(database, clock)], logger: logger)
        methods = ProfileMethods(
            store: ProfileStore(
                database: database,
                identifiers: IdentifierSource(clock: clock),
                limits: settings.limits
            ),
            phonePolicy: settings.phonePolicy,
            requiredFields: settings.requiredFields,
            addressKey: settings.addressKey,
            clock: clock,
            nudgeOutbox: { relay.nudge() }
        )
    }

    /// Looks at what waits in the outbox until the task is cancelled.
    func watchOutbox() async { await relay.metrics.watch(outbox, logger: logger) }
}
