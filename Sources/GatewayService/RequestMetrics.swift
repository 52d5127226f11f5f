import HTTPJSON
import RPC
import RPCTransport
import ServiceKit
import Synchronization

/// Requests by route, method and status. Any thread.
final class RequestMetrics: MetricsSource {
    /// The methods that are told apart; any other is `other`, as a client may say whatever it likes.
    static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    /// What stands for requests that no route answers.
    static let noRoute = "none"

    private struct Key: Hashable, Comparable {
        let route: String
        let method: String

        static func < (left: Key, right: Key) -> Bool {
            left.route == right.route ? left.method < right.method : left.route < right.route
        }
    }
    private struct Counts {
        var statuses: [Int: UInt64] = [:]
        var times = TimeStatistics()
    }

    private let routes: Set<String>
    /// Bounded by routes, methods and the statuses that we answer with.
    private let counts = Mutex<[Key: Counts]>([:])

    /// Counts requests to these routes.
    init(routes: some Sequence<Route>) { self.routes = Set(routes.map(\.path)) }

    /// Counts one.
    func count(_ outcome: RequestOutcome) {
        let route = outcome.route.flatMap { routes.contains($0) ? $0 : nil } ?? Self.noRoute
        let method = Self.methods.contains(outcome.method) ? outcome.method : "other"
        counts.withLock { counts in
            counts[Key(route: route, method: method), default: Counts()].statuses[outcome.status, default: 0] += 1
            counts[Key(route: route, method: method), default: Counts()].times
                .count(nanoseconds: outcome.took.wholeNanoseconds)
        }
    }

    /// Adds the families.
    func write(to text: inout MetricsText) {
        let counts = counts.withLock { $0 }.sorted { $0.key < $1.key }
        text.family(
            "vestibule_http_requests_total",
            .counter,
            help: "Requests by route, method and status.",
            counts.flatMap { key, counts -> [(labels: [MetricsText.Label], value: Double)] in
                counts.statuses.sorted { $0.key < $1.key }.map { (status, count) -> ([MetricsText.Label], Double) in
                    ([("route", key.route), ("method", key.method), ("status", "\(status)")], Double(count))
                }
            }
        )
        text.times(
            "vestibule_http_request_duration_seconds",
            help: "Time that answers to requests took to make.",
            counts.map { (key, counts) -> ([MetricsText.Label], TimeStatistics) in
                ([("route", key.route), ("method", key.method)], counts.times)
            }
        )
    }
}
