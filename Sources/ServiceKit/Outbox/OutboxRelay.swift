import Logging
import Synchronization

/// Delivers a service's outbox: in order, at least once, by one process at a time, for as long as it runs.
///
/// A nudge after a commit makes it prompt; polling makes it certain. While deliveries fail it backs off, with jitter so
/// that replicas which failed together don't retry together.
public final class OutboxRelay<Store: OutboxStore>: Sendable {
    /// The relay's bounds.
    public struct Configuration: Sendable {
        /// The most events in a batch.
        public var batchEventsMax = 100
        /// How often to look without being nudged.
        public var pollInterval: Duration = .seconds(1)
        /// The wait after failures.
        public var backoff = Backoff(first: .milliseconds(100), max: .seconds(30))

        /// The defaults.
        public init() {}
    }

    private let store: Store
    private let configuration: Configuration
    private let logger: Logger
    private let random: @Sendable () -> Double
    private let deliver: @Sendable ([Store.Event]) async throws -> Void
    private let doorbell = Doorbell()
    /// What it did so far, for whoever measures.
    public let metrics = OutboxMetrics()

    /// A relay, which does nothing before `run`.
    ///
    /// - Parameters:
    ///   - store: the outbox.
    ///   - configuration: bounds.
    ///   - logger: told of failures and set-aside events.
    ///   - random: a number in 0..<1 for the jitter.
    ///   - deliver: hands the events to the receiver, all or none. Throws `OutboxRejection` for what can never be
    ///     delivered, anything else to be called again later. Must bound its own time.
    public init(
        store: Store,
        configuration: Configuration = Configuration(),
        logger: Logger,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        deliver: @escaping @Sendable ([Store.Event]) async throws -> Void
    ) {
        self.store = store
        self.configuration = configuration
        self.logger = logger
        self.random = random
        self.deliver = deliver
    }

    /// Says that an event was committed. Any thread; cheap; never waits.
    public func nudge() { doorbell.ring() }

    /// Relays until the task is cancelled; a batch under way then ends as its store and delivery see fit.
    public func run() async {
        var failureCount = 0
        while !Task.isCancelled {
            switch await step() {
            case .again: failureCount = 0
            case .rest:
                failureCount = 0
                await doorbell.wait(atMost: configuration.pollInterval)
            case .failed:
                // A nudge doesn't cut the wait short: new events don't mend the receiver.
                try? await Task.sleep(for: configuration.backoff.delay(attempt: failureCount, random: random()))
                failureCount += 1
            }
        }
    }

    private enum Outcome { case again, rest, failed }

    private func step() async -> Outcome {
        let failure = Mutex<(any Error)?>(nil)
        do {
            let batch = try await store.relayBatch(limit: configuration.batchEventsMax) { events in
                let (verdict, error) = await self.verdict(on: events)
                failure.withLock { $0 = error }
                return verdict
            }
            switch batch {
            case .busy, .empty: return .rest
            case .handled(let read, let delivered):
                if read == delivered { return .again }
                if let error = failure.withLock({ $0 }), !Task.isCancelled {
                    logger.warning(
                        "outbox delivery failed, will retry",
                        metadata: ["error": "\(error)", "waiting": "\(read)"]
                    )
                }
                metrics.countFailure()
                return .failed
            }
        } catch {
            metrics.countFailure()
            if !Task.isCancelled {
                logger.warning("outbox cannot be read, will retry", metadata: ["error": "\(error)"])
            }
            return .failed
        }
    }

    /// Delivers a batch whole; if one event in it is rejected, each alone, so that it doesn't hold up the others.
    private func verdict(on events: [Store.Event]) async -> (OutboxVerdict, (any Error)?) {
        do {
            try await deliver(events)
            metrics.count(delivered: events.count, setAside: 0)
            return (OutboxVerdict(handledCount: events.count), nil)
        } catch let rejection as OutboxRejection where events.count == 1 {
            return (setAside([0: rejection.reason], handledCount: 1), nil)
        } catch is OutboxRejection {
            return await verdictOneByOne(events)
        } catch {
            return (OutboxVerdict(handledCount: 0), error)
        }
    }

    private func verdictOneByOne(_ events: [Store.Event]) async -> (OutboxVerdict, (any Error)?) {
        var rejected: [Int: String] = [:]
        for (index, event) in events.enumerated() {
            do {
                try await deliver([event])
            } catch let rejection as OutboxRejection {
                rejected[index] = rejection.reason
            } catch {
                return (setAside(rejected, handledCount: index), error)
            }
        }
        return (setAside(rejected, handledCount: events.count), nil)
    }

    private func setAside(_ rejected: [Int: String], handledCount: Int) -> OutboxVerdict {
        for reason in rejected.values {
            logger.error("outbox event was rejected and set aside", metadata: ["reason": .string(reason)])
        }
        metrics.count(delivered: handledCount - rejected.count, setAside: rejected.count)
        return OutboxVerdict(handledCount: handledCount, rejected: rejected)
    }
}
