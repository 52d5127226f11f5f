import RPC
import RPCTransport

/// The calls of one side, by method.
package struct CallMetrics: MetricsSource {
    /// Which side of a call this process is on.
    package enum Side { case server, client }

    let side: Side
    let calls: @Sendable () -> [CallStatistics]

    /// The calls of a side.
    package init(side: Side, calls: @escaping @Sendable () -> [CallStatistics]) {
        self.side = side
        self.calls = calls
    }

    package func write(to text: inout MetricsText) {
        // A method that was never called has no times, but is reported, so that a rate over it begins at zero.
        let calls = calls().filter { side == .server || $0.count > 0 }
        let counts = calls.flatMap { calls in
            Status.Code.allCases.filter { $0 == .ok || calls.ended[$0.rawValue] > 0 }.map { code in
                (
                    labels: [("method", Self.name(calls.method)), ("code", "\(code)")] as [MetricsText.Label],
                    value: Double(calls.ended[code.rawValue])
                )
            }
        }
        let times = calls.filter { $0.count > 0 }.map { calls in
            (labels: [("method", Self.name(calls.method))] as [MetricsText.Label], times: calls.took)
        }
        switch side {
        case .server:
            text.family(
                "vestibule_rpc_server_calls_total",
                .counter,
                help: "Calls that have ended here, by method and status.",
                counts
            )
            text.times(
                "vestibule_rpc_server_call_duration_seconds",
                help: "Time from a call's request to the last of its answer.",
                times
            )
        case .client:
            text.family(
                "vestibule_rpc_client_calls_total",
                .counter,
                help: "Calls to other services that have ended, by method and status, those tried again counted once.",
                counts
            )
            text.times(
                "vestibule_rpc_client_call_duration_seconds",
                help: "Time of calls to other services, waits and further tries included.",
                times
            )
        }
    }

    /// Without the slash that a path begins with.
    private static func name(_ path: String) -> String { path.hasPrefix("/") ? String(path.dropFirst()) : path }
}
