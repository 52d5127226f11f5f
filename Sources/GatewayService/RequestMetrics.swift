import HTTPJSON
import RPCTransport
import ServiceKit
import Synchronization

/// Requests by route, method and status. Any thread.
package final class RequestMetrics: MetricsSource {
    /// The methods with series of their own; any other counts as `other`, since a client may send any name.
    static let methods = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "other"]
    /// The path of requests that no route answers.
    static let noRoute = "none"

    /// A route's path and a method.
    private final class Series: Sendable {
        struct Counts {
            /// Bounded by the statuses that we answer with.
            var statuses: [(status: Int, count: UInt64)] = []
            var times = TimeStatistics()
        }
        let counts = Mutex(Counts())

        func count(_ outcome: RequestOutcome) {
            counts.withLock { counts in
                if let place = counts.statuses.firstIndex(where: { $0.status == outcome.status }) {
                    counts.statuses[place].count += 1
                } else {
                    counts.statuses.append((outcome.status, 1))
                }
                counts.times.count(nanoseconds: outcome.tookNanoseconds)
            }
        }
    }

    /// The paths, sorted, with ``noRoute`` among them.
    private let paths: [String]
    /// For each route the place of its path.
    private let pathOfRoute: [Int]
    private let pathOfNone: Int
    /// For each path one for each method.
    private let series: [Series]

    /// Counts requests to these routes.
    package init(routes: some Sequence<Route>) {
        let all = routes.map(\.path)
        let paths = Set(all + [Self.noRoute]).sorted()
        let places = Dictionary(uniqueKeysWithValues: zip(paths, paths.indices))
        self.paths = paths
        pathOfRoute = all.map { places[$0, default: 0] }
        pathOfNone = places[Self.noRoute, default: 0]
        series = (0..<paths.count * Self.methods.count).map { _ in Series() }
    }

    /// Counts one.
    package func count(_ outcome: RequestOutcome) {
        let path = outcome.route.map { pathOfRoute[$0] } ?? pathOfNone
        let method = Self.methods.firstIndex(of: outcome.method) ?? Self.methods.count - 1
        series[path * Self.methods.count + method].count(outcome)
    }

    /// Adds the families.
    package func write(to text: inout MetricsText) {
        let counted = series.enumerated().map {
            (place, series) -> (labels: [MetricsText.Label], counts: Series.Counts) in
            let (path, method) = place.quotientAndRemainder(dividingBy: Self.methods.count)
            return ([("route", paths[path]), ("method", Self.methods[method])], series.counts.withLock { $0 })
        }.filter { !$0.counts.statuses.isEmpty }
        text.family(
            "vestibule_http_requests_total",
            .counter,
            help: "Requests by route, method and status.",
            counted.flatMap { labels, counts -> [(labels: [MetricsText.Label], value: Double)] in
                counts.statuses.sorted { $0.status < $1.status }.map { status, count in
                    (labels + [("status", "\(status)")], Double(count))
                }
            }
        )
        text.times(
            "vestibule_http_request_duration_seconds",
            help: "Time that answers to requests took to make.",
            counted.map { labels, counts in (labels, counts.times) }
        )
    }
}
