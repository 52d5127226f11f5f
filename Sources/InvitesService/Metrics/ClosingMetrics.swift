import ServiceKit
import Synchronization

/// The backlog of closed accounts, and the failures.
final class ClosingMetrics: MetricsSource {
    private let failures = CounterFamily(
        "vestibule_invites_closing_failures_total",
        help: "Tries to forget a closed account that failed; each is tried again behind the others."
    )
    private let state = Mutex<(backlog: AccountBacklog, nowMilliseconds: Int64)?>(nil)

    /// Counts a failed try.
    func countFailure() { failures[0].add() }

    /// Sets the current backlog.
    func set(_ backlog: AccountBacklog, nowMilliseconds: Int64) {
        state.withLock { $0 = (backlog, nowMilliseconds) }
    }

    /// Adds the families.
    func write(to text: inout MetricsText) {
        failures.write(to: &text)
        guard let (backlog, now) = state.withLock({ $0 }) else { return }
        func age(since time: Int64?) -> Double { time.map { Double(max(0, now - $0)) / 1_000 } ?? 0 }
        text.single(
            "vestibule_invites_closings_waiting",
            .gauge,
            help: "Closed accounts that are not forgotten wholly, or not looked at once more yet.",
            Double(backlog.closings)
        )
        text.single(
            "vestibule_invites_closings_oldest_seconds",
            .gauge,
            help: "For how long the oldest of them has been waiting; a minute is usual.",
            age(since: backlog.oldestClosingMilliseconds)
        )
        text.single(
            "vestibule_invites_holds_oldest_seconds",
            .gauge,
            help: "For how long the oldest account has been held for an absorption; moments are usual.",
            age(since: backlog.oldestHoldMilliseconds)
        )
    }
}
