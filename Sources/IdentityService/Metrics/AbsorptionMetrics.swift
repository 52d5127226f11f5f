import ServiceKit
import Synchronization

/// Metrics of absorptions of accounts.
final class AbsorptionMetrics: MetricsSource {
    private let failures = CounterFamily(
        "vestibule_identity_absorption_failures_total",
        help: "Tries to go on with an absorption of an account that failed; each is tried again behind the others."
    )
    private let oldestSeconds = Mutex<Double?>(nil)

    /// Counts a failed try.
    func countFailure() { failures[0].add() }

    /// Sets when the oldest unfinished absorption began, in Unix milliseconds; nil if there is none.
    func set(oldest: Int64?, nowMilliseconds: Int64) {
        let age = oldest.map { Double(max(0, nowMilliseconds - $0)) / 1_000 } ?? 0
        oldestSeconds.withLock { $0 = age }
    }

    /// Adds the families.
    func write(to text: inout MetricsText) {
        failures.write(to: &text)
        guard let age = oldestSeconds.withLock({ $0 }) else { return }
        text.single(
            "vestibule_identity_absorptions_oldest_seconds",
            .gauge,
            help: "For how long the oldest absorption of an account has been under way; moments are usual.",
            age
        )
    }
}
