import ServiceKit
import Synchronization

/// Metrics of webhook targets; those of their queues are the metrics of all work.
final class WebhookMetrics: MetricsSource {
    /// How often the targets are read.
    private static let interval: Duration = .seconds(15)

    private let store: IdentityStore
    private let stopped = Mutex<[(name: String, isStopped: Bool)]>([])

    init(store: IdentityStore) { self.store = store }

    /// Reads which targets are stopped, until the task is cancelled. While the database fails, none is reported.
    func watch() async {
        while !Task.isCancelled {
            let now = (try? await store.stoppedWebhookTargets()) ?? []
            stopped.withLock { $0 = now }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Adds the family; none without targets.
    func write(to text: inout MetricsText) {
        text.family(
            "vestibule_identity_webhooks_stopped",
            .gauge,
            help: "1 for a webhook target that answered that it is gone (status 410), and gets no more events.",
            stopped.withLock { $0 }.map { ([("target", $0.name)], $0.isStopped ? 1 : 0) }
        )
    }
}
