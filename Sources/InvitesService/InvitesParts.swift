import API
import InvitesDomain
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
struct InvitesParts: Sendable {
    /// The pause between rounds of cleanup.
    static let cleanupInterval: Duration = .seconds(600)

    /// The methods of `vestibule.app.v1.GroupService`.
    let groupMethods: GroupMethods
    /// The methods of `vestibule.invites.v1.InvitesService`.
    let methods: InvitesMethods
    /// Deletes expired data.
    let cleanup: Cleanup
    /// Delivers events for webhook targets to identity.
    let events: ServiceEvents
    /// Reads the keys of proofs again; nil if they are given and not read.
    let keyReader: KeyReader?

    /// Looks for group changes while there are subscribers.
    var groupEvents: GroupEventHub { methods.groupEvents }

    /// Deletes the data of closed accounts.
    var closings: ClosingRunner { methods.closings }

    /// Puts the parts together. Nothing happens before they are registered and run.
    ///
    /// - Parameter closingLimit: how long a call deletes data of the account that it closed, at most.
    init(
        settings: InvitesSettings,
        database: PostgresClient,
        group: EventLoopGroup,
        identity: IdentityServiceClient,
        clock: WallClock = .system,
        closingLimit: Duration = ClosingRunner.callLimit,
        logger: Logger
    ) {
        let phones = PhoneStore(
            database: database,
            identifiers: IdentifierSource(clock: clock),
            membershipsMax: settings.limits.membershipsMax
        )
        let groups = GroupStore(database: database)
        let members = MemberStore(database: database)
        let currentCallers = CurrentCallers(settings.callers.reading(clock), group: group)
        let currentCursors = CurrentCursors(settings.cursors, group: group)
        keyReader = settings.callerSource?.reader(
            for: currentCallers,
            cursors: currentCursors,
            clock: clock,
            logger: logger
        )
        let accounts = AccountStore(database: database)
        let closings = ClosingRunner(store: accounts, callLimit: closingLimit, clock: clock, logger: logger)
        let unusedPhones = UnusedPhones(database: database)
        let invitations = InvitationStore(database: database)
        let links = GroupLinkStore(database: database)
        let events = ServiceEvents(
            of: InvitesKeys.program,
            in: WorkTable(database) { clock.nowMilliseconds },
            database: database,
            clock: clock,
            logger: logger
        ) { request, options throws(RPCError) in try await identity.acceptEvents(request, options: options) }
        self.events = events
        logger.notice("new groups", metadata: ["openness": .string(settings.groupOpenness.rawValue)])
        var watchLimits = GroupEventHub.Limits()
        watchLimits.kept = settings.changesRetention
        let groupEvents = GroupEventHub(
            store: GroupEventStore(database: database),
            limits: watchLimits,
            logger: logger
        )
        groupMethods = GroupMethods(
            currentCallers: currentCallers,
            currentCursors: currentCursors,
            groups: groups,
            members: members,
            invitations: invitations,
            pending: PendingStore(database: database),
            links: links,
            blocks: BlockStore(database: database),
            phonePolicy: settings.phonePolicy,
            limits: settings.limits,
            groupOpenness: settings.groupOpenness,
            addressKey: settings.addressKey,
            clock: clock,
            identifiers: IdentifierSource(clock: clock)
        )
        methods = InvitesMethods(
            currentCallers: currentCallers,
            currentCursors: currentCursors,
            phones: phones,
            accounts: accounts,
            groups: groups,
            closings: closings,
            groupEvents: groupEvents,
            limits: settings.limits,
            clock: clock
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
            Cleanup.Step("expired invitations") { limit in
                try await invitations.forgetExpired(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("expired links") { limit in
                try await links.forgetExpired(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("asked numbers") { limit in
                let time = clock.nowMilliseconds - settings.limits.userNumbers.windowMilliseconds
                return try await members.forgetNumbers(askedByMilliseconds: time, limit: limit)
            },
            Cleanup.Step("numbers that nobody waits for") { _ in try await unusedPhones.forget() },
            Cleanup.Step("closed accounts") { limit in
                try await accounts.forgetClosedAccounts(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("refused absorptions") { limit in
                try await accounts.forgetRefusedAbsorptions(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("places that found no room") { limit in
                // Others keep waiting, and are no reason for another round at once.
                _ = try await phones.linkWaiting(nowMilliseconds: clock.nowMilliseconds, limit: limit)
                return 0
            },
            Cleanup.Step("changes of groups") { limit in try await groupEvents.forget(limit: limit) },
            events.cleanup,
        ]
        cleanup = Cleanup(every: Self.cleanupInterval, steps, logger: logger)
    }
}
