import API
import RPC
import RPCTransport
import ServiceKit
import Synchronization

/// The calls of apps by method and status, whichever protocol brought them. Any thread.
final class AppCallMetrics: MetricsSource {
    private struct Counts {
        var ended: [Status.Code: UInt64] = [.ok: 0]
        var times = TimeStatistics()
    }

    /// Bounded by the methods of the router and the codes.
    private let counts: Mutex<[MethodDescriptor: Counts]>

    /// Counts calls of these methods. Each has a series before its first call, so that a rate over it begins at zero.
    init(_ methods: [MethodDescriptor] = AppCallMetrics.methods) {
        counts = Mutex(Dictionary(uniqueKeysWithValues: methods.map { ($0, Counts()) }))
    }

    /// All methods of `vestibule.app.v1`.
    static let methods =
        AuthServiceMethods.all + AccountServiceMethods.all + GroupServiceMethods.all + KeyServiceMethods.all

    /// Counts one that has ended.
    ///
    /// - Parameter nanoseconds: how long it took; nil where that says nothing.
    func count(_ method: MethodDescriptor, _ code: Status.Code, nanoseconds: UInt64?) {
        counts.withLock { counts in
            counts[method, default: Counts()].ended[code, default: 0] += 1
            if let nanoseconds { counts[method, default: Counts()].times.count(nanoseconds: nanoseconds) }
        }
    }

    /// Adds the families, by the names that services have for theirs.
    func write(to text: inout MetricsText) {
        let counts = counts.withLock { $0 }.sorted { $0.key.path < $1.key.path }
        text.family(
            "vestibule_rpc_server_calls_total",
            .counter,
            help: "Calls that have ended here, by method and status.",
            counts.flatMap { method, counts -> [(labels: [MetricsText.Label], value: Double)] in
                counts.ended.sorted { $0.key.rawValue < $1.key.rawValue }.map { code, count in
                    ([("method", Self.name(method)), ("code", "\(code)")], Double(count))
                }
            }
        )
        text.times(
            "vestibule_rpc_server_call_duration_seconds",
            help: "Time from a call's request to the last of its answer.",
            counts.map { method, counts -> ([MetricsText.Label], TimeStatistics) in
                ([("method", Self.name(method))], counts.times)
            }
        )
    }

    /// Without the slash that a path begins with.
    private static func name(_ method: MethodDescriptor) -> String { String(method.path.dropFirst()) }
}
