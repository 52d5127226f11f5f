import IdentityDomain
import Logging
import Models
import OutgoingHTTP
import ServiceKit
import ServiceStore

/// Delivers events to the webhook targets, to each at its own pace. Each replica runs one.
struct WebhookDeliverer: Sendable {
    /// How long until a failed first registration is tried again.
    static let retryInterval: Duration = .seconds(1)
    /// How often the targets are registered in the database.
    static let registrationInterval: Duration = .seconds(60)

    /// The limits of a client for so many targets, and for telling OAuth clients of ended sessions. No request waits for the connection of another target's: a target that never
    /// responds delays its own events only.
    static func limits(targets: Int, loops: Int) -> HTTPSClient.Limits {
        var limits = HTTPSClient.Limits()
        limits.requestsMax = targets * WebhookWork.atOnceMax + LogoutWork.atOnceMax
        // All targets may be on one host and one event loop, and connections are divided among the loops.
        limits.connectionsPerHostMax = limits.requestsMax * loops
        limits.connectionsMax = limits.connectionsPerHostMax
        return limits
    }

    let targets: [WebhookTarget]
    /// One for each target.
    let runners: [WorkRunner<WebhookWork>]
    let metrics: WebhookMetrics
    private let store: IdentityStore
    private let clock: WallClock
    private let logger: Logger

    init(
        _ targets: [WebhookTarget],
        in work: WorkTable,
        http: any OutgoingClient,
        store: IdentityStore,
        clock: WallClock,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        logger: Logger
    ) {
        self.targets = targets
        self.store = store
        self.clock = clock
        self.logger = logger
        metrics = WebhookMetrics(store: store)
        runners = targets.map { target in
            let kind = WebhookWork(target: target, http: http, store: store, clock: clock)
            return WorkRunner(kind, in: work, logger: logger, random: random)
        }
    }

    /// Registers the targets and their event types in the database, until the task is cancelled. Without it no event is stored for them.
    func keepRegistered() async {
        guard !targets.isEmpty else { return }
        while !Task.isCancelled {
            if await register(areNew: true) { break }
            try? await Task.sleep(for: Self.retryInterval)
        }
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.registrationInterval)
            _ = await register(areNew: false)
        }
    }

    /// Registers the targets and their event types in the database. Returns false if that fails.
    func register(areNew: Bool) async -> Bool {
        do {
            for target in targets {
                try await store.register(target, isNew: areNew, nowMilliseconds: clock.nowMilliseconds)
            }
            return true
        } catch {
            if !Task.isCancelled {
                logger.warning("webhook targets are not registered, will retry", metadata: ["cause": "\(error)"])
            }
            return false
        }
    }
}
