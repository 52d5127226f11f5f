import API
import IdentityDomain
import JOSE
import KeyRings
import Logging
import Models
import OutgoingHTTP
import Postgres
import RPC
import RPCTransport
import ServiceKit
import ServiceModels
import ServiceStore

/// The service's parts, put together: the methods to register and the background tasks.
struct IdentityParts: Sendable {
    /// The pause between rounds of cleaning up.
    static let cleanupInterval: Duration = .seconds(60)

    /// The methods of `vestibule.identity.v1.IdentityService`.
    let methods: IdentityMethods
    /// The methods of `vestibule.identity.v1.OAuthService`.
    let oauthMethods: OAuthMethods
    /// The methods of `vestibule.operator.v1.OperatorService`.
    let operatorMethods: OperatorMethods
    /// The service's metrics.
    let metrics: [any MetricsSource]
    /// Deletes expired rows.
    let cleanup: Cleanup
    /// Reads our own keys again; nil if they were passed in instead of read.
    let keyReader: KeyReader?
    /// Reads the clients file again; nil without one.
    let clientsReader: ClientsReader?
    /// Deliver closed accounts, to profile and invites.
    let closings: [WorkRunner<ClosingWork>]
    /// Delivers proven phone numbers to profile.
    let phoneProofs: PhoneProofs
    /// The tokens that providers granted.
    let grants: ProviderGrants
    /// Delivers events to the webhook targets.
    let webhooks: WebhookDeliverer
    /// Notifies OAuth clients of ended sessions.
    let logouts: WorkRunner<LogoutWork>
    /// Deletes the accounts whose scheduled deletion is due.
    let deletions: ScheduledDeletions
    let guests: GuestExpiry
    /// Applies provider notices.
    let notices: NoticeApplier
    /// Fetches the keys of providers.
    let keys: ProviderKeys
    /// Asks providers about codes and access tokens.
    let questions: ProviderQuestions
    /// The time.
    let clock: WallClock

    /// Puts the parts together. Nothing happens before they are registered and run.
    ///
    /// - Parameters:
    ///   - http: the client for requests to providers.
    ///   - webhooks: the client for webhook targets, if not `http`.
    ///   - profile, invites: receive closed accounts; profile also serves operators' queries.
    ///   - codes: exchange codes, if the providers are not to.
    ///   - accessTokens: check access tokens, if the providers are not to.
    ///   - revocationLimits: the limits for watching ended sessions.
    ///   - monotonicNanoseconds: a monotonic clock, to measure ages.
    init(
        settings: IdentitySettings,
        database: PostgresClient,
        group: EventLoopGroup,
        fetcher: any KeyFetching,
        http: any OutgoingClient,
        webhooks: (any OutgoingClient)? = nil,
        profile: ProfileServiceClient,
        invites: InvitesServiceClient,
        codes: [ProviderName: any CodeExchanging]? = nil,
        accessTokens: [ProviderName: any AccessTokenChecking]? = nil,
        revocationLimits: RevocationHub.Limits = RevocationHub.Limits(),
        clock: WallClock = .system,
        monotonicNanoseconds: @escaping @Sendable () -> UInt64 = { Deadline.now().nanoseconds },
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = { SecureRandom.bytes($0) },
        logger: Logger
    ) {
        let store = IdentityStore(database: database, limits: settings.limits)
        keys = ProviderKeys(settings.providers.values.map(\.policy), fetcher: fetcher, clock: clock, logger: logger)
        self.clock = clock
        questions = ProviderQuestions(
            settings.providers,
            http: http,
            store: store,
            keys: keys,
            clock: clock,
            randomBytes: randomBytes,
            logger: logger
        )
        let signIns = SignInMetrics(providers: settings.providers.keys + (settings.passkeys == nil ? [] : [.passkey]))
        let refreshes = RefreshMetrics()
        let sessionUses = SessionUses()
        let revocations = RevocationHub(store: store, limits: revocationLimits, clock: clock, logger: logger)
        let work = WorkTable(database) { clock.nowMilliseconds }
        let closings = [ClosingWork.profile(profile, clock: clock), .invites(invites, clock: clock)].map {
            WorkRunner($0, in: work, logger: logger)
        }
        self.closings = closings
        let acknowledgements = Acknowledgements(store: store, revocations: revocations, clock: clock, logger: logger)
        let notices = NoticeApplier(store: store, revocations: revocations, clock: clock, logger: logger)
        self.notices = notices
        let deliverer = WebhookDeliverer(
            settings.webhooks,
            in: work,
            http: webhooks ?? http,
            store: store,
            clock: clock,
            logger: logger
        )
        self.webhooks = deliverer
        let mint = Self.mint(settings, clock: clock, randomBytes: randomBytes)
        let ownKeys = CurrentKeys(
            KeysInUse(
                mint: mint(settings.issuer, settings.refreshKeys),
                proofs: settings.proofs,
                vault: settings.vault,
                cursors: settings.cursors
            ),
            group: group
        )
        let questions = questions
        let grants = ProviderGrants(
            settings,
            http: http,
            store: store,
            keys: ownKeys,
            codes: codes ?? questions.codesAfterAnswers,
            canExchange: { codes != nil || questions.canExchange($0) },
            announce: { revocations.announce() },
            clock: clock,
            randomBytes: randomBytes,
            logger: logger
        )
        self.grants = grants
        let identifiers = IdentifierSource(clock: clock) { randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) } }
        let accountClosed: @Sendable () -> Void = {
            revocations.announce()
            for runner in closings { runner.nudge() }
        }
        let guestMetrics = GuestMetrics()
        let absorber = AccountMerger(
            store: store,
            profile: profile,
            invites: invites,
            keys: ownKeys,
            identifiers: identifiers,
            clock: clock,
            accountClosed: accountClosed,
            guests: guestMetrics,
            logger: logger
        )
        let deletions = ScheduledDeletions(
            store: store,
            identifiers: identifiers,
            metrics: DeletionMetrics(),
            clock: clock,
            accountClosed: accountClosed,
            logger: logger
        )
        self.deletions = deletions
        let guests = GuestExpiry(
            store: store,
            policy: settings.guests,
            identifiers: identifiers,
            metrics: guestMetrics,
            clock: clock,
            accountClosed: accountClosed,
            logger: logger
        )
        self.guests = guests
        let opener = AccountOpener(
            store: store,
            absorber: absorber,
            identifiers: identifiers,
            clock: clock,
            logger: logger
        )
        let sender = PhoneProofSender(profile: profile, store: store, opener: opener, clock: clock)
        let phoneProofs = PhoneProofs(sender, in: work, store: store, logger: logger)
        self.phoneProofs = phoneProofs
        keyReader = settings.keySource.map { source in
            KeyReader(program: .identity, rings: settings.keyRings, logger: logger) {
                let keys = try source.read()
                let new = KeysInUse(
                    mint: mint(settings.issuer(with: keys), keys.refreshKeys),
                    proofs: keys.proofs,
                    vault: keys.vault,
                    cursors: keys.cursors
                )
                return (keys.rings, { ownKeys.replace(new) })
            }
        }
        let clients = ReplaceableValue(OAuthClients(settings.clients), group: group)
        let logouts = WorkRunner(
            LogoutWork(clients: clients, keys: ownKeys, http: webhooks ?? http, clock: clock, randomBytes: randomBytes),
            in: work,
            logger: logger
        )
        self.logouts = logouts
        clientsReader = settings.clientsFile.map {
            ClientsReader(
                $0,
                clients: clients,
                signsRS256: { ownKeys.current.mint.issuer.signsRS256 },
                logger: logger
            )
        }
        metrics =
            [
                signIns, refreshes, sessionUses, acknowledgements, revocations,
                ProviderKeyMetrics(keys: keys, clock: clock),
                questions.metrics,
                WorkMetricsList(
                    closings.map(\.metrics) + deliverer.runners.map(\.metrics)
                        + [phoneProofs.runner.metrics, logouts.metrics]
                ), grants.metrics,
                notices.metrics, absorber.metrics, deletions.metrics, guests.metrics,
                deliverer.metrics,
            ] + (keyReader.map { [$0] } ?? []) + (clientsReader.map { [$0] } ?? [])
        let steps = [
            Cleanup.Step("sign-ins") { limit in
                try await store.forgetSignIns(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("sessions") { limit in
                try await store.forgetSessions(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("which sessions ended") { limit in try await store.forgetRevocations(limit: limit) },
            Cleanup.Step("exchanges of codes") { limit in
                try await store.forgetCodeExchanges(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("details of first sign-ins") { limit in
                try await store.forgetToldOnce(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            QuotaStore.cleanup(database, clock),
            Cleanup.Step("web tickets") { limit in
                try await store.forgetWebTickets(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("authorization codes") { limit in
                try await store.forgetAuthorizationCodes(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("assertions of clients") { limit in
                try await store.forgetClientAssertions(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("closings of accounts") { limit in
                try await store.forgetClosings(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("assertions of phone numbers") { limit in
                try await store.forgetPhoneAssertions(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("provider notices") { limit in try await notices.forget(limit: limit) },
            Cleanup.Step("tokens that can't be revoked") { limit in try await grants.giveUp(limit: limit) },
            Cleanup.Step("webhooks") { limit in
                let now = clock.nowMilliseconds
                let targets = try await store.forgetWebhookTargets(nowMilliseconds: now)
                let forgotten = try await store.forgetParked(limit: limit, nowMilliseconds: now)
                return targets + forgotten + (try await store.parkForgotten(limit: limit, nowMilliseconds: now))
            },
            Cleanup.Step("transfers to another team") { limit in
                try await store.forgetTransfers(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("security events") { limit in
                try await store.forgetSecurityEvents(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
        ]
        cleanup = Cleanup(every: Self.cleanupInterval, steps, logger: logger)
        methods = IdentityMethods(
            providers: settings.providers,
            keys: keys,
            store: store,
            ownKeys: ownKeys,
            verifiedTokens: VerifiedTokens(group: group),
            sessionEpoch: SessionEpoch(nowNanoseconds: monotonicNanoseconds) { deadline in
                try await store.sessionsFrom(deadline: deadline)
            },
            codes: codes ?? questions.codes,
            accessTokens: accessTokens ?? questions.accessTokens,
            grants: grants.keeper,
            unprovenDialects: settings.unprovenDialects,
            namesAudiences: settings.namesAudiences,
            signIns: signIns,
            refreshes: refreshes,
            deletions: deletions.metrics,
            guestPolicy: settings.guests,
            guests: guests.metrics,
            guestCount: GuestCount(nowNanoseconds: monotonicNanoseconds) { deadline in
                try await store.guestCount(settings.guests, nowMilliseconds: clock.nowMilliseconds, deadline: deadline)
            },
            passkeys: settings.passkeys,
            sessionUses: sessionUses,
            acknowledgements: acknowledgements,
            revocations: revocations,
            accountClosed: { for runner in closings { runner.nudge() } },
            absorber: absorber,
            notices: notices,
            phoneAssertions: settings.phoneAssertions,
            phoneProofs: phoneProofs,
            gateways: settings.gateways,
            pauses: PauseWatch(nowMilliseconds: clock.nowMilliseconds),
            clock: clock,
            identifiers: identifiers,
            randomBytes: randomBytes
        )
        oauthMethods = OAuthMethods(identity: methods, currentClients: clients) { logouts.nudge() }
        operatorMethods = OperatorMethods(
            store: store,
            profile: OperatorProfiles(client: profile, logger: logger),
            opener: opener,
            revocations: revocations,
            groups: OperatorGroups(client: invites, logger: logger),
            operators: OperatorCallers(operators: settings.operators, consoles: settings.operatorConsoles),
            ownKeys: ownKeys,
            identifiers: identifiers,
            clock: clock,
            accountClosed: accountClosed
        )
        for dialect in settings.unprovenDialects.sorted() {
            logger.warning(
                "anyone who knows a user's id at the provider is let in without proof",
                metadata: ["dialect": "\(dialect)", "setting": "\(IdentityKeys.unprovenLogins.name)"]
            )
        }
    }
}
