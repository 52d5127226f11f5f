import ServiceKit

/// What was told to those who watch groups, in sums.
final class GroupEventCounts: Sendable {
    fileprivate let told = CounterFamily(
        "vestibule_invites_group_changes_told_total",
        help: "Changes in groups told to those who watch, once for each."
    )
    fileprivate let closed = CounterFamily(
        "vestibule_invites_watch_streams_closed_total",
        help: "Streams of gateways for those who watch groups that invites ended, by reason.",
        labels: ["reason"],
        values: GroupEventStream.End.allCases.map { [$0.label] }
    )

    func countTold(_ count: Int) { told[0].add(UInt64(count)) }

    func count(_ reason: GroupEventStream.End) { closed[reason.rawValue].add() }
}

extension GroupEventStream.End {
    fileprivate var label: String {
        switch self {
        case .behind: "behind"
        case .stopping: "stopping"
        }
    }
}

extension GroupEventHub: MetricsSource {
    /// Adds the families.
    func write(to text: inout MetricsText) {
        text.single(
            "vestibule_invites_watches",
            .gauge,
            help: "Apps that watch their groups by this replica.",
            Double(watchCount)
        )
        let behind = failingTime.components
        text.single(
            "vestibule_invites_watches_behind_seconds",
            .gauge,
            help: "For how long changes of groups can't be read while somebody watches; 0 if they can.",
            Double(behind.seconds) + Double(behind.attoseconds) / 1e18
        )
        counts.told.write(to: &text)
        counts.closed.write(to: &text)
    }
}
