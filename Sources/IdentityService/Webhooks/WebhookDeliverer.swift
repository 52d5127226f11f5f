import IdentityDomain
import Logging
import Models
import OutgoingHTTP
import Postgres
import ServiceKit
import Synchronization

/// Delivers events to the webhook targets, to each at its own pace. Each replica runs one.
///
/// The steps of an event for a target: it is leased → sent → taken, and its row is deleted; or it is postponed, and in the end parked.
/// If a replica is killed in between, another one leases the event when the lease is over, and sends it again with the same id.
struct WebhookDeliverer: Sendable {
    /// How often to look for due events.
    static let interval: Duration = .seconds(1)
    /// How long a target may take to respond.
    static let timeout: Duration = .seconds(15)
    /// How long a replica leases an event: it sends at once, and is done well before.
    static let leaseMilliseconds: Int64 = 60_000
    /// The maximum of concurrent requests from a replica to a target.
    static let atOnceMax = 8
    /// How often the targets are registered in the database, and how often the backlog is counted.
    static let registrationInterval: Duration = .seconds(60)
    static let watchInterval: Duration = .seconds(15)
    /// The least time between two log lines about a target's failures.
    private static let logIntervalMilliseconds: Int64 = 60_000

    /// The limits of a client for so many targets. No request waits for the connection of another target's: a target that never
    /// responds delays its own events only.
    static func limits(targets: Int, loops: Int) -> HTTPSClient.Limits {
        var limits = HTTPSClient.Limits()
        limits.requestsMax = targets * atOnceMax
        // All targets may be on one host and one event loop, and connections are divided among the loops.
        limits.connectionsPerHostMax = limits.requestsMax * loops
        limits.connectionsMax = limits.connectionsPerHostMax
        return limits
    }

    let targets: [WebhookTarget]
    let metrics: WebhookMetrics
    private let http: any OutgoingClient
    private let store: IdentityStore
    private let clock: WallClock
    private let random: @Sendable () -> Double
    private let logger: Logger
    private let lastLogs = Once()

    /// When each target's failures were logged last.
    private final class Once: Sendable {
        let times = Mutex<[String: Int64]>([:])
    }

    /// How many requests to a target are under way.
    private final class Count: Sendable {
        let value = Atomic<Int>(0)
    }

    init(
        _ targets: [WebhookTarget],
        http: any OutgoingClient,
        store: IdentityStore,
        clock: WallClock,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        logger: Logger
    ) {
        self.targets = targets
        self.http = http
        self.store = store
        self.clock = clock
        self.random = random
        self.logger = logger
        metrics = WebhookMetrics(targets: targets.map(\.name))
    }

    /// Delivers until the task is cancelled. Returns at once where there is no target.
    func run() async {
        guard !targets.isEmpty else { return }
        await register()
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { await keepRegistered() }
            for target in targets { tasks.addTask { await deliver(to: target) } }
        }
    }

    // MARK: - Targets

    /// Registers the targets and their event types in the database, and retries until that succeeds.
    private func register() async {
        while !Task.isCancelled {
            if await register(areNew: true) { return }
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func keepRegistered() async {
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
                logger.warning("targets of webhooks are not known", metadata: ["cause": "\(error)"])
            }
            return false
        }
    }

    /// Counts the waiting events until the task is cancelled.
    func watch() async {
        while !targets.isEmpty, !Task.isCancelled {
            for target in targets {
                let backlog = try? await store.webhookBacklog(of: target.name, nowMilliseconds: clock.nowMilliseconds)
                metrics.set(backlog, of: target.name)
            }
            try? await Task.sleep(for: Self.watchInterval)
        }
    }

    // MARK: - Deliveries

    /// Delivers to one target until the task is cancelled: up to ``atOnceMax`` requests are under way at once, and each that ends
    /// makes room for the next.
    private func deliver(to target: WebhookTarget) async {
        let underWay = Count()
        let bell = CoalescingSignal()
        await withDiscardingTaskGroup { tasks in
            while !Task.isCancelled {
                let room = Self.atOnceMax - underWay.value.load(ordering: .relaxed)
                var isMore = room == 0
                if room > 0 {
                    let messages = await claim(for: target, limit: room)
                    isMore = messages.count == room
                    for message in messages {
                        underWay.value.add(1, ordering: .relaxed)
                        tasks.addTask {
                            await deliver(message, to: target)
                            underWay.value.subtract(1, ordering: .relaxed)
                            bell.ring()
                        }
                    }
                }
                if isMore {
                    await bell.wait(atMost: Self.interval)
                } else {
                    try? await Task.sleep(for: Self.interval)
                }
            }
        }
    }

    /// Delivers all that is due for one target, for tests and callers that have time to wait.
    func round(_ target: WebhookTarget) async {
        while !Task.isCancelled {
            let messages = await claim(for: target, limit: Self.atOnceMax)
            if messages.isEmpty { return }
            _ = await withEach(of: messages, atOnce: Self.atOnceMax) { await deliver($0, to: target) }
        }
    }

    private func claim(for target: WebhookTarget, limit: Int) async -> [WebhookMessage] {
        do {
            return try await store.claimWebhooks(
                for: target,
                limit: limit,
                leaseMilliseconds: Self.leaseMilliseconds,
                nowMilliseconds: clock.nowMilliseconds
            )
        } catch {
            tell(target, "events are not read, will try again", cause: "\(error)")
            return []
        }
    }

    private func deliver(_ message: WebhookMessage, to target: WebhookTarget) async {
        let request = message.request(to: target, timeout: Self.timeout, nowSeconds: clock.nowSeconds)
        let answer: WebhookAnswer
        do throws(OutgoingHTTPError) {
            answer = WebhookAnswer(try await http.send(request))
        } catch {
            // An event whose request was cancelled because this process ends is due again when its lease is over.
            if error.cause == .cancelled { return }
            answer = .failed(error.description, wishMilliseconds: 0)
        }
        do {
            try await settle(message, of: target, answer)
        } catch {
            // Due again when its lease is over.
            tell(target, "what became of an event is not written down", cause: "\(error)")
        }
    }

    private func settle(_ message: WebhookMessage, of target: WebhookTarget, _ answer: WebhookAnswer) async throws {
        let now = clock.nowMilliseconds
        switch answer {
        case .taken:
            try await store.forgetDelivered(message)
            metrics.count(target.name, .delivered)
        case .gone:
            try await store.stop(target, nowMilliseconds: now)
            try await park(message, of: target, "status 410")
            tell(target, "a target of webhooks says that it is gone, and is stopped", cause: "status 410")
        case .failed(let cause, let wish):
            let next = WebhookPauses.next(
                tries: Int(message.tries),
                triedFromMilliseconds: message.triedFrom.milliseconds,
                wishMilliseconds: wish,
                nowMilliseconds: now,
                random: random()
            )
            guard let next else { return try await park(message, of: target, cause) }
            try await store.postpone(message, failure: cause, nextMilliseconds: next, nowMilliseconds: now)
            metrics.count(target.name, .failed)
            tell(target, "an event was not taken, will try again", cause: cause)
        }
    }

    private func park(_ message: WebhookMessage, of target: WebhookTarget, _ cause: String) async throws {
        try await store.postpone(
            message,
            failure: cause,
            nextMilliseconds: nil,
            nowMilliseconds: clock.nowMilliseconds
        )
        metrics.count(target.name, .parked)
        tell(target, "an event is parked, and not tried again", cause: cause)
    }

    /// Logs at most one line a minute for each target: a failure concerns thousands of events alike.
    private func tell(_ target: WebhookTarget, _ what: Logger.Message, cause: String) {
        guard !Task.isCancelled else { return }
        let now = clock.nowMilliseconds
        let isDue = lastLogs.times.withLock { times in
            if let last = times[target.name], abs(now - last) < Self.logIntervalMilliseconds { return false }
            times[target.name] = now
            return true
        }
        guard isDue else { return }
        logger.warning(what, metadata: ["target": "\(target.name)", "cause": "\(cause)"])
    }
}

/// A target's response to an event.
enum WebhookAnswer: Sendable, Hashable {
    /// It took the event.
    case taken
    /// It wants no more events.
    case gone
    /// It didn't take the event, and may ask for a pause.
    case failed(String, wishMilliseconds: Int64)

    init(_ response: OutgoingResponse) {
        switch response.status {
        case 200...299: self = .taken
        case 410: self = .gone
        default:
            // RFC 9110 section 10.2.3; a date in its place is ignored.
            let seconds = Int64(response.header("retry-after")).map { min(max(0, $0), 86_400) } ?? 0
            self = .failed("status \(response.status)", wishMilliseconds: seconds * 1000)
        }
    }
}
