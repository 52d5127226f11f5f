import IdentityDomain
import Logging
import Models
import Postgres
import RPC
import RPCTransport
import ServiceKit

/// The service's parts, put together: what is registered and what runs beside it.
public struct IdentityParts: Sendable {
    /// The pause between rounds of cleaning up.
    static let cleanupInterval: Duration = .seconds(60)

    /// The methods of `vestibule.identity.v1.IdentityService`.
    public let methods: IdentityMethods
    /// What the service measures.
    let metrics: [any MetricsSource]
    private let keys: ProviderKeys
    private let effects: Effects
    private let logger: Logger

    /// Puts the parts together. Nothing happens before they are registered and run.
    public init(
        settings: IdentitySettings,
        database: PostgresClient,
        group: EventLoopGroup,
        fetcher: any KeyFetching,
        effects: Effects = .system,
        logger: Logger
    ) {
        keys = ProviderKeys(settings.providers.values, fetcher: fetcher, effects: effects, logger: logger)
        self.effects = effects
        self.logger = logger
        let signIns = SignInMetrics(providers: settings.providers.keys)
        let refreshes = RefreshMetrics()
        metrics = [signIns, refreshes, ProviderKeyMetrics(keys: keys, clock: effects.clock)]
        methods = IdentityMethods(
            providers: settings.providers,
            keys: keys,
            store: IdentityStore(database, limits: settings.limits),
            mint: SessionTokenMint(issuer: settings.issuer, refreshKeys: settings.refreshKeys, effects: effects),
            verifiedTokens: VerifiedTokens(group: group),
            signIns: signIns,
            refreshes: refreshes,
            lateCallers: settings.lateCallers,
            pauses: PauseWatch(nowMilliseconds: effects.clock.nowMilliseconds),
            effects: effects
        )
    }

    /// Fetches provider keys when sign-ins want them, until the task is cancelled. Without it no sign-in succeeds.
    public func fetchProviderKeys() async {
        await keys.run()
    }

    /// Notices when the process did not run for a while, until the task is cancelled. Without it all the time since the start
    /// counts as a pause, up to the maximum.
    public func watchForPauses() async {
        while !Task.isCancelled {
            methods.pauses.tick(nowMilliseconds: effects.clock.nowMilliseconds)
            try? await Task.sleep(for: PauseWatch.tickInterval)
        }
    }

    /// Deletes what has expired, in bounded rounds, until the task is cancelled.
    public func cleanUp() async {
        while !Task.isCancelled {
            var hasMore = false
            do {
                hasMore = try await methods.store.deleteExpired(nowMilliseconds: effects.clock.nowMilliseconds)
            } catch {
                // The next round does it: nothing depends on when.
                logger.warning("cleaning up failed", metadata: ["cause": "\(error)"])
            }
            try? await Task.sleep(for: hasMore ? .seconds(1) : Self.cleanupInterval)
        }
    }
}
