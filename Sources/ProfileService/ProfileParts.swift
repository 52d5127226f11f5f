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
    let phoneEvents: WorkRunner<PhoneEventWork>
    /// Delivers events for webhook targets to identity.
    let events: ServiceEvents
    /// Deletes expired data.
    let cleanup: Cleanup
    /// Reads the keys of proofs again; nil if they are given and not read.
    let keyReader: KeyReader?

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
        let work = WorkTable(database) { clock.nowMilliseconds }
        let phoneEvents = WorkRunner(PhoneEventWork(invites: invites), in: work, logger: logger)
        self.phoneEvents = phoneEvents
        let events = ServiceEvents(
            of: ProfileKeys.program,
            in: work,
            database: database,
            clock: clock,
            logger: logger
        ) { request, options throws(RPCError) in try await identity.acceptEvents(request, options: options) }
        self.events = events
        let currentCallers = CurrentCallers(settings.callers.reading(clock), group: group)
        keyReader = settings.callerSource?.reader(for: currentCallers, clock: clock, logger: logger)
        metrics = [WorkMetricsList([phoneEvents.metrics, events.runner.metrics])] + (keyReader.map { [$0] } ?? [])
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
            phoneChanged: { phoneEvents.nudge() }
        )
    }
}
