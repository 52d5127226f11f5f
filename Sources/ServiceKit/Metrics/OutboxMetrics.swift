import Logging
import RPC
import Synchronization

/// What is known of an outbox: how much waits in it, and what its relay did. Every replica tells the same of what waits.
public final class OutboxMetrics: MetricsSource {
    /// How often it is looked at what waits.
    public static let interval: Duration = .seconds(2)

    private let receiver: String?
    private let delivered = CounterFamily.Counter()
    private let failures = CounterFamily.Counter()
    private let setAside = CounterFamily.Counter()
    private let backlog = Mutex<OutboxBacklog?>(nil)

    init(receiver: String?) { self.receiver = receiver }

    func count(delivered: Int, setAside: Int) {
        self.delivered.add(UInt64(delivered))
        self.setAside.add(UInt64(setAside))
    }

    func countFailure() { failures.add() }

    /// Looks again and again at what waits, until the task is cancelled. While the
    /// database can't say, nothing is reported.
    public func watch(_ store: some OutboxStore, logger: Logger) async {
        while !Task.isCancelled {
            do {
                let now = try await store.backlog()
                backlog.withLock { $0 = now }
            } catch {
                backlog.withLock { $0 = nil }
                if !Task.isCancelled { logger.debug("outbox cannot be counted", metadata: ["error": "\(error)"]) }
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Adds the families of one outbox.
    public func write(to text: inout MetricsText) { OutboxMetricsList([self]).write(to: &text) }

    fileprivate var labels: [MetricsText.Label] { receiver.map { [("receiver", $0)] } ?? [] }

    fileprivate var waiting: OutboxBacklog? { backlog.withLock { $0 } }

    fileprivate var sums: (delivered: UInt64, failures: UInt64, setAside: UInt64) {
        (delivered.value, failures.value, setAside.value)
    }
}

/// What is known of all outboxes of a process, told apart by their receivers.
public struct OutboxMetricsList: MetricsSource {
    private let list: [OutboxMetrics]

    /// The metrics of relays. Where there are several, each has a receiver of its own.
    public init(_ list: [OutboxMetrics]) { self.list = list }

    /// Adds the families.
    public func write(to text: inout MetricsText) {
        let known = list.compactMap { one in one.waiting.map { (labels: one.labels, backlog: $0) } }
        text.family(
            "vestibule_outbox_depth",
            .gauge,
            help: "Events that wait to be delivered; counting may stop past ten thousand.",
            known.map { ($0.labels, Double($0.backlog.eventCount)) }
        )
        text.family(
            "vestibule_outbox_oldest_age_seconds",
            .gauge,
            help: "For how long the oldest event that waits has waited; 0 without any.",
            known.map { ($0.labels, Double($0.backlog.oldestAge.wholeNanoseconds) / 1e9) }
        )
        text.family(
            "vestibule_outbox_aside",
            .gauge,
            help: "Events that are set aside, and those that wait behind one, until somebody has looked at them.",
            known.map { ($0.labels, Double($0.backlog.setAsideCount)) }
        )
        let sums = list.map { (labels: $0.labels, sums: $0.sums) }
        text.family(
            "vestibule_outbox_delivered_total",
            .counter,
            help: "Events that were delivered.",
            sums.map { ($0.labels, Double($0.sums.delivered)) }
        )
        text.family(
            "vestibule_outbox_failures_total",
            .counter,
            help: "Attempts to read or deliver a batch that failed and will be made again.",
            sums.map { ($0.labels, Double($0.sums.failures)) }
        )
        text.family(
            "vestibule_outbox_set_aside_total",
            .counter,
            help: "Events that the receiver will never take, or failed on each time.",
            sums.map { ($0.labels, Double($0.sums.setAside)) }
        )
    }
}
