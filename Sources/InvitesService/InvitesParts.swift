import Logging
import Models
import Postgres
import ServiceKit
import ServiceModels
import ServiceStore

/// The service's parts, put together: what is registered and what runs beside it.
struct InvitesParts: Sendable {
    /// The pause between rounds of cleaning up.
    static let cleanupInterval: Duration = .seconds(600)

    /// The methods of `vestibule.invites.v1.InvitesService`.
    let methods: InvitesMethods
    /// Deletes what is over.
    let cleanup: Cleanup

    /// Puts the parts together. Nothing happens before they are registered and run.
    init(
        settings: InvitesSettings,
        database: PostgresClient,
        clock: WallClock = .system,
        logger: Logger
    ) {
        let phones = PhoneStore(database: database)
        let groups = GroupStore(database: database)
        methods = InvitesMethods(
            groups: groups,
            members: MemberStore(database: database),
            phones: phones,
            phonePolicy: settings.phonePolicy,
            limits: settings.limits,
            addressKey: settings.addressKey,
            clock: clock,
            identifiers: IdentifierSource(clock: clock)
        )
        let steps = [
            Cleanup.Step("applied events") { limit in
                let time = clock.nowMilliseconds - settings.inboxRetention.components.seconds * 1_000
                return try await phones.forgetEvents(appliedBeforeMilliseconds: time, limit: limit)
            },
            Cleanup.Step("idempotency keys") { limit in
                let time = clock.nowMilliseconds - settings.keyRetention.components.seconds * 1_000
                return try await groups.forgetKeys(usedBeforeMilliseconds: time, limit: limit)
            },
            QuotaStore.cleanup(database, clock),
        ]
        cleanup = Cleanup(every: Self.cleanupInterval, steps, logger: logger)
    }
}
