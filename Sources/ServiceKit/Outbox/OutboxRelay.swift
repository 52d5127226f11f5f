import Logging
import RPC
import RPCTransport
import ServiceLifecycle
import Synchronization
import Tracing

/// A `Service` that delivers an outbox: in order, at least once, by one process at a time, for as long as it runs.
///
/// A nudge after a commit makes it prompt; polling makes it certain. While the receiver is away it backs off, with jitter
/// so that replicas which failed together don't retry together.
///
/// One transaction holds one delivery, so that it is over soon however slow the receiver is. A batch that isn't taken is
/// halved until the event at fault is alone. One that is rejected is set aside; one that the receiver fails on is tried
/// again after growing waits and set aside after `triesMax` of them. Meanwhile the others go on.
public final class OutboxRelay<Store: OutboxStore>: Service {
    /// The relay's bounds.
    public struct Configuration: Sendable {
        /// The most events in a batch.
        public var batchEventsMax = 100
        /// How often to look without being nudged.
        public var pollInterval: Duration = .seconds(1)
        /// The wait after failures.
        public var backoff = Backoff(first: .milliseconds(100), max: .seconds(30))
        /// The wait of an event that the receiver failed on.
        public var eventBackoff = Backoff(first: .seconds(1), max: .seconds(3600))
        /// How often such an event is tried before it is set aside: with these waits for three hours on average, in which a
        /// receiver with a bug can be mended.
        public var triesMax = 16
        /// A batch that is delivered within this may be followed by a larger one.
        public var quickDelivery: Duration = .seconds(1)

        /// The defaults.
        public init() {}
    }

    private let store: Store
    private let configuration: Configuration
    private let logger: Logger
    private let random: @Sendable () -> Double
    private let deliver: @Sendable ([Store.Event]) async throws -> Void
    private let tracing: OutboxTracing?
    private let doorbell = CoalescingSignal()
    /// Rung once, at a graceful shutdown.
    private let stop = CoalescingSignal()
    private let isRun = Atomic(false)
    /// What it did so far, for whoever measures.
    public let metrics: OutboxMetrics

    /// A relay, which does nothing before `run`.
    ///
    /// - Parameters:
    ///   - store: the outbox.
    ///   - receiver: to whom, where a process has several outboxes: the label by which metrics tell them apart.
    ///   - configuration: bounds.
    ///   - logger: told of failures and set-aside events.
    ///   - random: a number in 0..<1 for the jitter.
    ///   - tracer: makes the spans of what is told; nil for none.
    ///   - deliver: hands the events to the receiver, all or none. Throws `OutboxRejection` for what can never be
    ///     delivered, `OutboxSetback` where the receiver failed on the events, anything else if it isn't there. Must
    ///     bound its own time, well below what the store's transaction may take.
    public init(
        store: Store,
        receiver: String? = nil,
        configuration: Configuration = Configuration(),
        logger: Logger,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        tracer: (any Tracer)? = Traces.tracer,
        deliver: @escaping @Sendable ([Store.Event]) async throws -> Void
    ) {
        self.store = store
        metrics = OutboxMetrics(receiver: receiver)
        self.configuration = configuration
        self.logger = logger
        self.random = random
        self.deliver = deliver
        tracing = tracer.map { OutboxTracing($0, receiver: receiver) }
    }

    /// Says that an event was committed. Any thread; cheap; never waits.
    public func nudge() { doorbell.ring() }

    /// Relays until a graceful shutdown, which lets the batch under way end, or until the task is cancelled, which the store
    /// and the delivery of that batch notice. Throws `TransportError.alreadyRun` the second time.
    public func run() async throws {
        guard !isRun.exchange(true, ordering: .relaxed) else { throw TransportError.alreadyRun }
        await withGracefulShutdownHandler {
            await relay()
        } onGracefulShutdown: { [doorbell, stop] in
            doorbell.ring()
            stop.ring()
        }
    }

    private func relay() async {
        var failureCount = 0
        var pace = OutboxPace(eventsMax: configuration.batchEventsMax, quick: configuration.quickDelivery)
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            switch await step(&pace) {
            case .again: failureCount = 0
            case .smaller: break
            case .rest:
                failureCount = 0
                await doorbell.wait(atMost: configuration.pollInterval)
            case .failed:
                // A nudge doesn't cut the wait short: new events don't mend the receiver.
                failureCount += 1
                let wait = configuration.backoff.wait(failures: failureCount, random: random())
                await stop.wait(atMost: wait)
            }
        }
    }

    /// What comes after a step: the next one at once, the same events in smaller batches, a rest, or a wait that grows.
    private enum Outcome { case again, smaller, rest, failed }

    /// What a delivery came to.
    private struct Attempt {
        var verdict: OutboxVerdict
        var took: Duration
        var error: (any Error)?
    }

    private func step(_ pace: inout OutboxPace) async -> Outcome {
        let made = Mutex<Attempt?>(nil)
        do {
            let batch = try await store.relayBatch(limit: pace.eventCount) { events in
                let attempt = await self.attempt(events)
                made.withLock { $0 = attempt }
                return attempt.verdict
            }
            switch batch {
            case .busy, .empty: return .rest
            case .unreadable(let count):
                logger.error("outbox entries can't be read and were set aside", metadata: ["count": "\(count)"])
                metrics.count(delivered: 0, setAside: count)
                return .again
            case .handled(let count):
                guard let attempt = made.withLock({ $0 }) else { return .failed }
                return committed(attempt, count, &pace)
            }
        } catch {
            metrics.countFailure()
            if !Task.isCancelled {
                logger.warning("outbox cannot be read or changed, will retry", metadata: ["error": "\(error)"])
            }
            return .failed
        }
    }

    /// Tells and counts what is certain now.
    private func committed(_ attempt: Attempt, _ count: Int, _ pace: inout OutboxPace) -> Outcome {
        switch attempt.verdict {
        case .delivered:
            metrics.count(delivered: count, setAside: 0)
            pace.succeeded(took: attempt.took)
            return .again
        case .setAside(let reason):
            logger.error("outbox event was set aside", metadata: ["reason": .string(reason)])
            metrics.count(delivered: 0, setAside: 1)
            return .again
        case .postponed(let wait, let reason):
            pace.failed(events: count)
            tell("outbox event failed, will retry it alone", attempt, ["reason": .string(reason), "wait": "\(wait)"])
            return .failed
        case .kept:
            if attempt.error is OutboxRejection {
                pace.failed(events: count)
                return .smaller
            }
            tell("outbox delivery failed, will retry", attempt, ["waiting": "\(count)"])
            guard attempt.error is OutboxSetback else { return .failed }
            pace.failed(events: count)
            return .smaller
        }
    }

    private func tell(_ what: Logger.Message, _ attempt: Attempt, _ metadata: Logger.Metadata) {
        metrics.countFailure()
        guard !Task.isCancelled else { return }
        var metadata = metadata
        let cause = (attempt.error as? OutboxSetback)?.cause ?? attempt.error
        metadata["error"] = cause.map { "\($0)" }
        logger.warning(what, metadata: metadata)
    }

    private func attempt(_ events: [Store.Event]) async -> Attempt {
        let began = ContinuousClock.now
        var error: (any Error)?
        do {
            if let tracing {
                try await tracing.deliver(events) { try await deliver(events) }
            } else {
                try await deliver(events)
            }
        } catch let thrown {
            error = thrown
        }
        return Attempt(verdict: verdict(on: events, error), took: ContinuousClock.now - began, error: error)
    }

    private func verdict(on events: [Store.Event], _ error: (any Error)?) -> OutboxVerdict {
        guard let error else { return .delivered }
        // A cancelled delivery says nothing of the event.
        guard events.count == 1, !Task.isCancelled else { return .kept }
        if let rejection = error as? OutboxRejection { return .setAside(reason: rejection.reason) }
        guard let setback = error as? OutboxSetback else { return .kept }
        let failures = events[0].failureCount + 1
        if failures >= configuration.triesMax, setback.isEventAtFault {
            return .setAside(reason: "\(setback.reason) \(failures) times")
        }
        let wait = configuration.eventBackoff.wait(failures: failures, random: random())
        return .postponed(wait: wait, reason: setback.reason)
    }
}
