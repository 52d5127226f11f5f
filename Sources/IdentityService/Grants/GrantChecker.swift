import IdentityDomain
import Logging
import Models
import OutgoingHTTP
import ServiceKit

/// Asks Apple once a day whether the kept tokens are still valid, and signs out the users whose tokens it refuses
/// (``GrantChecks``).
///
/// For Apple only: there, a refused token means that the user withdrew their consent or their account is gone. Google's tokens end
/// for other reasons as well, such as the hundredth token of a user, six months without use, or a project in testing; Google's own
/// notifications report changes of its users.
struct GrantChecker: Sendable {
    /// The providers whose tokens are checked.
    static let providers: Set<ProviderName> = [.apple]
    /// The time between two batches. A batch has as many checks as the rate allows in that time.
    static let interval: Duration = .seconds(5)
    /// The maximum of concurrent checks of an app.
    static let atOnceMax = 16

    private let apps: [(provider: ProviderName, clientID: String, endpoints: GrantEndpoints)]
    private let store: IdentityStore
    private let keys: CurrentKeys
    private let metrics: GrantMetrics
    private let batchMax: Int
    private let refusedPercentMax: Int
    private let announce: @Sendable () -> Void
    private let clock: WallClock
    private let logger: Logger

    /// - Parameters:
    ///   - perSecond: the maximum of checks per second for an app; 0 for no checks.
    ///   - announce: called when sessions have ended.
    init(
        _ providers: [ProviderName: ProviderConfiguration],
        http: any OutgoingClient,
        store: IdentityStore,
        keys: CurrentKeys,
        metrics: GrantMetrics,
        perSecond: Int,
        refusedPercentMax: Int,
        announce: @escaping @Sendable () -> Void,
        clock: WallClock,
        logger: Logger
    ) {
        apps = Self.apps(providers).compactMap { app in
            providers[app.provider].map { provider in
                (app.provider, app.clientID, GrantEndpoints(provider, http: http, clock: clock))
            }
        }
        self.store = store
        self.keys = keys
        self.metrics = metrics
        batchMax = perSecond * Int(Self.interval.components.seconds)
        self.refusedPercentMax = refusedPercentMax
        self.announce = announce
        self.clock = clock
        self.logger = logger
    }

    /// The apps whose tokens are checked: those with a credential at the provider.
    static func apps(
        _ configurations: [ProviderName: ProviderConfiguration]
    ) -> [(provider: ProviderName, clientID: String)] {
        providers.sorted().flatMap { name in
            (configurations[name]?.credentials.keys.sorted() ?? []).map { (name, $0) }
        }
    }

    /// Checks until the task is cancelled; returns at once if there is nothing to check.
    func run() async {
        guard batchMax > 0, !apps.isEmpty else { return }
        while !Task.isCancelled {
            await round()
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Checks a batch of each app.
    func round() async {
        guard batchMax > 0, let vault = keys.current.vault else { return }
        for app in apps {
            do {
                try await check(app.provider, app.clientID, app.endpoints, vault)
            } catch {
                guard !Task.isCancelled else { return }
                logger.warning("tokens are not checked, will try again", metadata: ["cause": "\(error)"])
            }
        }
    }

    private func check(
        _ provider: ProviderName,
        _ clientID: String,
        _ endpoints: GrantEndpoints,
        _ vault: VaultKeys
    ) async throws {
        let grants = try await store.claimChecks(
            provider,
            clientID,
            most: batchMax,
            nowMilliseconds: clock.nowMilliseconds
        )
        if grants.isEmpty { return }
        let asked = await withEach(of: grants, atOnce: Self.atOnceMax) { grant in
            (grant.place, await ask(grant, endpoints, vault))
        }
        // Nothing is known of a token that can't be opened.
        let answers = asked.compactMap { place, answer in answer.map { (place: place, answer: $0) } }
        let (checks, mayEnd) = try await store.finishChecks(
            provider,
            clientID,
            answers.map(\.answer),
            refusedPercentMax: refusedPercentMax,
            nowMilliseconds: clock.nowMilliseconds
        )
        if let reason = checks.stopReason, checks.stoppedUntil > clock.nowMilliseconds {
            logger.error(
                "checks of tokens are stopped, nobody is signed out",
                metadata: [
                    "provider": "\(provider)", "client": "\(clientID)", "reason": "\(reason.rawValue)",
                    "for_seconds": "\(reason.milliseconds / 1000)",
                ]
            )
        }
        guard mayEnd else { return }
        var ended = 0
        defer {
            metrics.countSignedOut(provider, ended)
            if ended > 0 { announce() }
        }
        for one in answers where one.answer == .refused {
            if try await store.endRefused(one.place, nowMilliseconds: clock.nowMilliseconds) { ended += 1 }
        }
    }

    private func ask(_ grant: StoredGrant, _ endpoints: GrantEndpoints, _ vault: VaultKeys) async
        -> GrantChecks.Answer?
    {
        let place = grant.place
        let token: String
        do throws(VaultError) {
            token = try vault.open(grant.sealed, at: place)
        } catch {
            metrics.countCheck(place.provider, .unopened)
            return nil
        }
        let (answer, cause) = await endpoints.check(token, clientID: place.clientID)
        let verdict: GrantChecks.Answer =
            switch answer {
            case .good: .good
            case .refused: .refused
            case .notConfigured: .notConfigured
            case .unavailable: .unavailable
            }
        metrics.countCheck(place.provider, GrantMetrics.Asked(verdict))
        if verdict == .notConfigured || verdict == .unavailable {
            logger.debug("a token was not checked", metadata: ["provider": "\(place.provider)", "cause": "\(cause)"])
        }
        return verdict
    }
}
