import Logging
import RPC
import Synchronization

/// What is known of an outbox: how much waits in it, and what its relay did. Every replica tells the same of what waits.
public final class OutboxMetrics: MetricsSource {
    /// How often it is looked at what waits.
    public static let interval: Duration = .seconds(2)

    private let delivered = CounterFamily("vestibule_outbox_delivered_total", help: "Events that were delivered.")
    private let failures = CounterFamily(
        "vestibule_outbox_failures_total",
        help: "Attempts to read or deliver a batch that failed and will be made again."
    )
    private let setAside = CounterFamily(
        "vestibule_outbox_set_aside_total",
        help: "Events that the receiver will never take, or failed on each time."
    )
    private let backlog = Mutex<OutboxBacklog?>(nil)

    init() {}

    func count(delivered: Int, setAside: Int) {
        self.delivered[0].add(UInt64(delivered))
        self.setAside[0].add(UInt64(setAside))
    }

    func countFailure() { failures[0].add() }

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

    /// Adds the families.
    public func write(to text: inout MetricsText) {
        if let backlog = backlog.withLock({ $0 }) {
            text.single(
                "vestibule_outbox_depth",
                .gauge,
                help: "Events that wait to be delivered; counting may stop past ten thousand.",
                Double(backlog.eventCount)
            )
            text.single(
                "vestibule_outbox_oldest_age_seconds",
                .gauge,
                help: "For how long the oldest event that waits has waited; 0 without any.",
                Double(backlog.oldestAge.wholeNanoseconds) / 1e9
            )
            text.single(
                "vestibule_outbox_aside",
                .gauge,
                help: "Events that are set aside, and those that wait behind one, until somebody has looked at them.",
                Double(backlog.setAsideCount)
            )
        }
        delivered.write(to: &text)
        failures.write(to: &text)
        setAside.write(to: &text)
    }
}
