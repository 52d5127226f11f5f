import ServiceKit

/// Counters of the messages and streams to watchers of ended sessions.
final class RevocationCounts: Sendable {
    fileprivate let told = CounterFamily(
        "vestibule_identity_revocations_told_total",
        help: "Ended sessions sent to watchers, once for each."
    )
    fileprivate let closed = CounterFamily(
        "vestibule_identity_revocation_streams_closed_total",
        help: "Streams of ended sessions that identity refused or ended, by reason; callers that left don't count.",
        labels: ["reason"],
        values: RevocationWatcher.End.allCases.map { [$0.label] } + [["refused"]]
    )

    func countTold(_ count: Int) { told[0].add(UInt64(count)) }

    func count(_ reason: RevocationWatcher.End) { closed[reason.rawValue].add() }

    func countRefusal() { closed[RevocationWatcher.End.allCases.count].add() }
}

extension RevocationWatcher.End {
    fileprivate var label: String {
        switch self {
        case .behind: "behind"
        case .stopping: "stopping"
        case .database: "database"
        }
    }
}

extension RevocationHub: MetricsSource {
    /// Adds the families.
    func write(to text: inout MetricsText) {
        text.single(
            "vestibule_identity_revocation_watchers",
            .gauge,
            help: "Streams of ended sessions that are open.",
            Double(watcherCount)
        )
        let behind = failingTime.components
        text.single(
            "vestibule_identity_revocations_behind_seconds",
            .gauge,
            help: "For how long ended sessions can't be read while somebody watches; 0 if they can.",
            Double(behind.seconds) + Double(behind.attoseconds) / 1e18
        )
        counts.told.write(to: &text)
        counts.closed.write(to: &text)
    }
}
