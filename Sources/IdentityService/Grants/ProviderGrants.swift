import IdentityDomain
import Logging
import Models
import OutgoingHTTP
import ServiceKit

/// The refresh tokens that providers granted: kept sealed, checked once a day, revoked in the end.
struct ProviderGrants: Sendable {
    /// How often the backlog is counted.
    static let watchInterval: Duration = .seconds(60)

    /// Keeps the tokens that come with sign-ins.
    let keeper: GrantKeeper
    /// Checks the kept tokens.
    let checker: GrantChecker
    /// Revokes the tokens that are to be revoked.
    let revoker: GrantRevoker
    /// Reseals tokens under a retired key.
    let resealer: GrantResealer
    /// The metrics.
    let metrics: GrantMetrics
    private let store: IdentityStore
    private let keys: CurrentKeys
    private let clock: WallClock
    private let logger: Logger

    /// Does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - codes: exchange codes after responses.
    ///   - canExchange: whether a code can be exchanged.
    ///   - announce: called when sessions have ended.
    init(
        _ settings: IdentitySettings,
        http: any OutgoingClient,
        store: IdentityStore,
        keys: CurrentKeys,
        codes: [ProviderName: any CodeExchanging],
        canExchange: @escaping @Sendable (CodeGrant) -> Bool,
        announce: @escaping @Sendable () -> Void,
        clock: WallClock,
        randomBytes: @escaping @Sendable (Int) -> [UInt8],
        logger: Logger
    ) {
        let metrics = GrantMetrics(
            providers: settings.providers.keys,
            checkedApps: settings.grantChecksPerSecond > 0 ? GrantChecker.apps(settings.providers) : []
        )
        self.metrics = metrics
        self.store = store
        self.keys = keys
        self.clock = clock
        self.logger = logger
        keeper = GrantKeeper(
            store: store,
            keys: keys,
            codes: codes,
            canExchange: canExchange,
            metrics: metrics,
            clock: clock,
            randomBytes: randomBytes,
            logger: logger
        )
        checker = GrantChecker(
            settings.providers,
            http: http,
            store: store,
            keys: keys,
            metrics: metrics,
            perSecond: settings.grantChecksPerSecond,
            refusedPercentMax: settings.grantRefusalsPercentMax,
            announce: announce,
            clock: clock,
            logger: logger
        )
        revoker = GrantRevoker(
            settings.providers,
            http: http,
            store: store,
            keys: keys,
            metrics: metrics,
            clock: clock,
            logger: logger
        )
        resealer = GrantResealer(store: store, keys: keys, metrics: metrics, logger: logger)
    }

    /// Runs all parts until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { await keeper.run() }
            tasks.addTask { await checker.run() }
            tasks.addTask { await revoker.run() }
            tasks.addTask { await resealer.run() }
            tasks.addTask { await watch() }
        }
    }

    private func watch() async {
        while !Task.isCancelled {
            await look()
            try? await Task.sleep(for: Self.watchInterval)
        }
    }

    /// Gives up tokens that could not be revoked for ``GrantRevoker/givenUpAfterMilliseconds``, at most `limit` of them. Returns
    /// their number.
    func giveUp(limit: Int) async throws -> Int {
        let count = try await store.giveUpRevocations(
            afterMilliseconds: GrantRevoker.givenUpAfterMilliseconds,
            nowMilliseconds: clock.nowMilliseconds,
            limit: limit
        )
        guard count > 0 else { return 0 }
        metrics.countGivenUp(count)
        logger.error(
            "tokens could not be revoked for thirty days and are given up: the consents stand at their providers",
            metadata: ["count": "\(count)"]
        )
        return count
    }

    /// Counts the backlog.
    func look() async {
        guard let vault = keys.current.vault else { return }
        do {
            let backlog = try await store.grantBacklog(vault)
            metrics.set(backlog, stopped: try await store.stoppedChecks(nowMilliseconds: clock.nowMilliseconds))
        } catch {
            guard !Task.isCancelled else { return }
            logger.debug("tokens are not counted", metadata: ["cause": "\(error)"])
        }
    }
}
