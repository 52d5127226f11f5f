import ServiceKit
import Synchronization

/// Metrics of deliveries to webhook targets.
final class WebhookMetrics: MetricsSource {
    /// The outcome of a try.
    enum Outcome: String, CaseIterable {
        /// The target took the event.
        case delivered
        /// It didn't take the event, which is retried.
        case failed
        /// It didn't take the event in the last try.
        case parked
    }

    private let targets: [String]
    private let tries: CounterFamily
    private let backlogs = Mutex<[String: WebhookBacklog]>([:])

    init(targets: [String]) {
        self.targets = targets
        tries = CounterFamily(
            "vestibule_identity_webhook_tries_total",
            help: "Delivery attempts to a target, by outcome.",
            labels: ["target", "outcome"],
            values: targets.flatMap { target in Outcome.allCases.map { [target, $0.rawValue] } }
        )
    }

    /// Counts a try.
    func count(_ target: String, _ outcome: Outcome) {
        guard let row = targets.firstIndex(of: target), let column = Outcome.allCases.firstIndex(of: outcome) else {
            return
        }
        tries[row * Outcome.allCases.count + column].add()
    }

    /// Sets the current backlog; nil if it is unknown.
    func set(_ backlog: WebhookBacklog?, of target: String) { backlogs.withLock { $0[target] = backlog } }

    /// Adds the families; none without targets.
    func write(to text: inout MetricsText) {
        tries.write(to: &text)
        let backlogs = backlogs.withLock { $0 }.sorted { $0.key < $1.key }
        func gauge(_ name: StaticString, help: StaticString, _ value: (WebhookBacklog) -> Double) {
            text.family(name, .gauge, help: help, backlogs.map { ([("target", $0.key)], value($0.value)) })
        }
        gauge(
            "vestibule_identity_webhooks_waiting",
            help: "Events that wait for delivery to a target; counting stops past ten thousand."
        ) { Double($0.waiting) }
        gauge(
            "vestibule_identity_webhooks_oldest_seconds",
            help: "For how long the oldest of them has been tried; 0 without any."
        ) { $0.oldestSeconds }
        gauge(
            "vestibule_identity_webhooks_parked",
            help: "Events that a target didn't take for three days; counting stops past ten thousand."
        ) { Double($0.parked) }
        gauge(
            "vestibule_identity_webhooks_stopped",
            help: "1 for a target that answered that it is gone, and gets nothing."
        ) { $0.isStopped ? 1 : 0 }
    }
}
