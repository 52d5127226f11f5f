import Glibc
import ServiceKit

/// Sums of the messages to subscribers.
final class WatchCounts: Sendable {
    fileprivate let told = CounterFamily(
        "vestibule_gateway_watch_changes_total",
        help: "Changes in groups that were handed to apps that watch, once for each."
    )
    fileprivate let ended = CounterFamily(
        "vestibule_gateway_watches_ended_total",
        help:
            "Event streams that the gateway rejected or ended, by reason; apps that disconnected don't count.",
        labels: ["reason"],
        values: WatchEnd.allCases.map { [$0.label] } + [["refused"]]
    )

    func countTold(_ count: Int) { told[0].add(UInt64(count)) }

    func count(_ reason: WatchEnd) { if let place = WatchEnd.allCases.firstIndex(of: reason) { ended[place].add() } }

    func countRefusal() { ended[WatchEnd.allCases.count].add() }
}

extension WatchEnd {
    fileprivate var label: String {
        switch self {
        case .expired: "expired"
        case .revoked: "revoked"
        case .comeAgain: "come_again"
        case .slow: "slow"
        }
    }
}

extension GroupWatches: MetricsSource {
    /// Adds the families.
    func write(to text: inout MetricsText) {
        text.single(
            "vestibule_gateway_watches",
            .gauge,
            help: "Apps that watch their groups at this gateway.",
            Double(count)
        )
        counts.told.write(to: &text)
        counts.ended.write(to: &text)
    }
}

/// The machine's time of day, by which tokens expire.
enum WatchClock {
    /// Now, in Unix seconds.
    static var nowSeconds: Int64 { Int64(time(nil)) }
}
