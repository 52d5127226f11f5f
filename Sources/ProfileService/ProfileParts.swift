import API
import KeyRings
import Logging
import Models
import Postgres
import RPC
import RPCTransport
import ServiceKit
import ServiceModels
import ServiceStore

/// The service's parts, put together: what is registered and what runs in the background.
struct ProfileParts: Sendable {
    /// The pause between rounds of cleanup.
    static let cleanupInterval: Duration = .seconds(600)

    /// The methods of `vestibule.profile.v1.ProfileService`.
    let methods: ProfileMethods
    /// The service's metrics.
    let metrics: [any MetricsSource]
    /// Delivers events about phone numbers to invites.
    let relay: OutboxRelay<PhoneOutbox>
    /// Delivers events for webhook targets to identity.
    let events: EventRelay
    /// Deletes expired data.
    let cleanup: Cleanup
    /// Reads the keys of proofs again; nil if they are given and not read.
    let keyReader: KeyReader?
    private let outbox: PhoneOutbox
    private let logger: Logger

    /// Puts the parts together. Nothing happens before they are registered and run.
    init(
        settings: ProfileSettings,
        database: PostgresClient,
        group: EventLoopGroup,
        identity: IdentityServiceClient,
        invites: InvitesServiceClient,
        clock: WallClock = .system,
        logger: Logger
    ) {
        let delivery = PhoneEventDelivery(invites: invites)
        let outbox = PhoneOutbox(database: database, clock: clock)
        let relay = OutboxRelay(
            store: outbox,
            receiver: "invites",
            logger: logger,
            deliver: { try await delivery.deliver($0) }
        )
        let events = EventRelay(
            of: ProfileKeys.program,
            database: database,
            clock: clock,
            logger: logger
        ) { request, options throws(RPCError) in try await identity.acceptEvents(request, options: options) }
        self.events = events
        self.outbox = outbox
        self.relay = relay
        let currentCallers = CurrentCallers(settings.callers.reading(clock), group: group)
        keyReader = settings.callerSource?.reader(for: currentCallers, clock: clock, logger: logger)
        metrics = [OutboxMetricsList([relay.metrics, events.relay.metrics])] + (keyReader.map { [$0] } ?? [])
        self.logger = logger
        let store = ProfileStore(
            database: database,
            identifiers: IdentifierSource(clock: clock),
            limits: settings.limits,
            required: settings.requiredFields
        )
        let steps = [
            QuotaStore.cleanup(database, clock),
            Cleanup.Step("closed accounts") { limit in
                try await store.forgetClosedAccounts(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("claims by proof, and disputes") { limit in
                try await store.forgetClaimsByProof(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("numbers that were given up") { limit in
                try await store.forgetCoolDowns(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("refused absorptions") { limit in
                try await store.forgetRefusedAbsorptions(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            events.cleanup,
        ]
        cleanup = Cleanup(every: Self.cleanupInterval, steps, logger: logger)
        methods = ProfileMethods(
            store: store,
            currentCallers: currentCallers,
            phonePolicy: settings.phonePolicy,
            requiredFields: settings.requiredFields,
            addressKey: settings.addressKey,
            closings: AccountClosings(identity: identity, logger: logger),
            clock: clock,
            logger: logger,
            nudgeOutbox: { relay.nudge() }
        )
    }

    /// Observes the backlog for invites until the task is cancelled.
    func watchOutbox() async { await relay.metrics.watch(outbox, logger: logger) }
}
