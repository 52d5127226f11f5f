import ServiceKit

/// Why a subscribed app begins anew: it lists everything again.
enum GroupEventReset: Int, CaseIterable, Sendable {
    /// Its position is too old or unknown.
    case position
    /// It missed more events than it may catch up on.
    case missed
    /// It would get too many changes of one look.
    case flood
    /// The recipients of a change couldn't be read, and it may be one of them.
    case unresolved
    /// The database crashed or was restored, so that nothing before is known.
    case database
    /// The changes can't be read.
    case unreadable
}

/// Totals of the changes sent to subscribers.
final class GroupEventCounts: Sendable {
    fileprivate let told = CounterFamily(
        "vestibule_invites_group_changes_told_total",
        help: "Changes in groups sent to subscribers, once for each."
    )
    fileprivate let closed = CounterFamily(
        "vestibule_invites_watch_streams_closed_total",
        help: "Streams of gateways for subscribers of groups that invites ended, by reason.",
        labels: ["reason"],
        values: GroupEventStream.End.allCases.map { [$0.label] }
    )

    fileprivate let resets = CounterFamily(
        "vestibule_invites_watch_resets_total",
        help: "Apps that watch groups and began anew, by reason.",
        labels: ["reason"],
        values: GroupEventReset.allCases.map { ["\($0)"] }
    )
    fileprivate let skipped = CounterFamily(
        "vestibule_invites_group_events_skipped_total",
        help: "Changes of groups whose recipients can't be read, and that were skipped for some of them."
    )

    func countTold(_ count: Int) { told[0].add(UInt64(count)) }

    /// Counts apps that begin anew.
    func count(_ reset: GroupEventReset, _ count: Int = 1) { resets[reset.rawValue].add(UInt64(count)) }

    /// How many began anew for a reason.
    func count(of reset: GroupEventReset) -> UInt64 { resets[reset.rawValue].value }

    func countSkipped() { skipped[0].add() }

    /// How many changes were skipped.
    var skippedCount: UInt64 { skipped[0].value }

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
        let behind = behindTime.components
        text.single(
            "vestibule_invites_watches_behind_seconds",
            .gauge,
            help:
                "For how long changes of groups have not been read to the end while somebody watches; 0 if they have.",
            Double(behind.seconds) + Double(behind.attoseconds) / 1e18
        )
        counts.told.write(to: &text)
        counts.closed.write(to: &text)
        counts.resets.write(to: &text)
        counts.skipped.write(to: &text)
    }
}
