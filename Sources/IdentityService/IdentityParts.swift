import IdentityDomain
import JOSE
import Logging
import Models
import OutgoingHTTP
import Postgres
import RPC
import RPCTransport
import ServiceKit

/// The service's parts, put together: what is registered and what runs beside it.
struct IdentityParts: Sendable {
    /// The pause between rounds of cleaning up.
    static let cleanupInterval: Duration = .seconds(60)

    /// The methods of `vestibule.identity.v1.IdentityService`.
    let methods: IdentityMethods
    /// What the service measures.
    let metrics: [any MetricsSource]
    /// Deletes what is over.
    let cleanup: Cleanup
    /// Numbers accounts of the version before.
    let numbering: AccountNumbering
    private let keys: ProviderKeys
    private let questions: ProviderQuestions
    private let clock: WallClock

    /// Puts the parts together. Nothing happens before they are registered and run.
    ///
    /// - Parameters:
    ///   - http: by what providers are asked.
    ///   - codes: by what codes are exchanged, if not at the providers.
    ///   - accessTokens: by what is asked whose an access token is, if not the providers.
    init(
        settings: IdentitySettings,
        database: PostgresClient,
        group: EventLoopGroup,
        fetcher: any KeyFetching,
        http: any OutgoingClient,
        codes: [ProviderName: any CodeExchanging]? = nil,
        accessTokens: [ProviderName: any AccessTokenChecking]? = nil,
        tickets: any TicketRedeeming = NoTickets(),
        clock: WallClock = .system,
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
        let signIns = SignInMetrics(providers: settings.providers.keys)
        let refreshes = RefreshMetrics()
        let sessionUses = SessionUses()
        metrics = [signIns, refreshes, sessionUses, ProviderKeyMetrics(keys: keys, clock: clock), questions.metrics]
        let steps = [
            Cleanup.Step("sign-ins") { limit in
                try await store.forgetSignIns(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("sessions") { limit in
                try await store.forgetSessions(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("exchanges of codes") { limit in
                try await store.forgetCodeExchanges(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
            Cleanup.Step("what was told once") { limit in
                try await store.forgetToldOnce(nowMilliseconds: clock.nowMilliseconds, limit: limit)
            },
        ]
        cleanup = Cleanup(every: Self.cleanupInterval, steps, logger: logger)
        numbering = AccountNumbering(store: store, logger: logger)
        methods = IdentityMethods(
            providers: settings.providers,
            keys: keys,
            store: store,
            mint: SessionTokenMint(
                issuer: settings.issuer,
                refreshKeys: settings.refreshKeys,
                singleTokens: SingleTokens(
                    issuer: settings.issuer.issuer,
                    lifetimeSeconds: settings.limits.singleTokenSeconds,
                    keys: settings.refreshKeys
                ),
                lifetimes: SessionTokenMint.lifetimes(settings.providers.values),
                clock: clock,
                randomBytes: randomBytes
            ),
            verifiedTokens: VerifiedTokens(group: group),
            codes: codes ?? questions.codes,
            accessTokens: accessTokens ?? questions.accessTokens,
            tickets: tickets,
            unprovenDialects: settings.unprovenDialects,
            addressKey: ClientAddressKey(
                Secret(settings.refreshKeys.addressKey),
                service: "identity what is told once"
            ),
            signIns: signIns,
            refreshes: refreshes,
            sessionUses: sessionUses,
            lateCallers: settings.lateCallers,
            pauses: PauseWatch(nowMilliseconds: clock.nowMilliseconds),
            clock: clock,
            identifiers: IdentifierSource(clock: clock) { randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) } },
            randomBytes: randomBytes
        )
        for dialect in settings.unprovenDialects.sorted() {
            logger.warning(
                "whoever knows a person's id at the provider is let in without proof",
                metadata: ["dialect": "\(dialect)", "setting": "\(IdentityKeys.unprovenLogins.name)"]
            )
        }
    }

    /// Fetches provider keys when sign-ins want them, until the task is cancelled. Without it no sign-in succeeds.
    func fetchProviderKeys() async {
        await keys.run()
    }

    /// Exchanges the codes that sign-ins come with, until the task is cancelled. Without it none of those succeeds.
    func exchangeCodes() async {
        await questions.run()
    }

    /// Notices when the process did not run for a while, until the task is cancelled. Without it all the time since the start
    /// counts as a pause, up to the maximum.
    func watchForPauses() async {
        while !Task.isCancelled {
            methods.pauses.tick(nowMilliseconds: clock.nowMilliseconds)
            try? await Task.sleep(for: PauseWatch.tickInterval)
        }
    }
}
