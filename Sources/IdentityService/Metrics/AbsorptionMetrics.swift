import ServiceKit
import Synchronization

/// How absorptions of accounts go.
final class AbsorptionMetrics: MetricsSource {
    private let failures = CounterFamily(
        "vestibule_identity_absorption_failures_total",
        help: "Tries to go on with an absorption of an account that failed; each is tried again behind the others."
    )
    private let oldestSeconds = Mutex<Double?>(nil)

    /// Counts a try that failed.
    func countFailure() { failures[0].add() }

    /// Takes since when the oldest is under way, in Unix milliseconds; nil if none is.
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
