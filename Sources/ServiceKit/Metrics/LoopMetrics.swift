import RPCTransport

/// Event loops, and the connections and streams on them.
struct LoopMetrics: MetricsSource {
    let group: EventLoopGroup
    /// Whether a server is on them.
    let hasServer: Bool

    func write(to text: inout MetricsText) {
        let loops = group.loops.map(\.statistics)
        text.times(
            "vestibule_event_loop_lag_seconds",
            help: "How long the turns of an event loop took, for which whatever came meanwhile had to wait.",
            loops.enumerated().map { (labels: [("loop", "\($0.offset)")], times: $0.element.turns) }
        )
        text.family(
            "vestibule_event_loop_turn_age_seconds",
            .gauge,
            help: "For how long an event loop has been in the turn that it is in; 0 while it waits.",
            loops.enumerated().map { ([("loop", "\($0.offset)")], Double($0.element.turnAgeNanoseconds) / 1e9) }
        )
        if hasServer { writeServer(loops, to: &text) }
        let client = loops.map(\.clientConnections)
        text.single(
            "vestibule_rpc_client_connections",
            .gauge,
            help: "Connections to other services.",
            client.sum { $0.current }
        )
        text.single(
            "vestibule_rpc_client_connections_opened_total",
            .counter,
            help: "Connections to other services that were made.",
            client.sum { $0.opened }
        )
        text.single(
            "vestibule_rpc_client_streams",
            .gauge,
            help: "Calls to other services that are on a connection.",
            loops.sum { $0.clientStreams.current }
        )
        text.single(
            "vestibule_rpc_received_bytes_total",
            .counter,
            help: "Bytes of HTTP/2 that came, from callers and from other services.",
            loops.sum { $0.receivedBytes }
        )
        text.single(
            "vestibule_rpc_sent_bytes_total",
            .counter,
            help: "Bytes of HTTP/2 that went out, to callers and to other services.",
            loops.sum { $0.sentBytes }
        )
    }

    private func writeServer(_ loops: [LoopStatistics], to text: inout MetricsText) {
        text.single(
            "vestibule_rpc_server_connections",
            .gauge,
            help: "Connections of callers.",
            loops.sum { $0.serverConnections.current }
        )
        text.single(
            "vestibule_rpc_server_connections_opened_total",
            .counter,
            help: "Connections of callers that were taken.",
            loops.sum { $0.serverConnections.opened }
        )
        text.single(
            "vestibule_rpc_server_connections_dismissed_total",
            .counter,
            help: "Connections that were ended because their caller asked too much.",
            loops.sum { $0.connectionsDismissed }
        )
        text.single(
            "vestibule_rpc_server_handshakes_dropped_total",
            .counter,
            help: "Connections that were ended before their handshake was done, to make room for others.",
            loops.sum { $0.handshakesDropped }
        )
        text.single(
            "vestibule_rpc_server_connections_evicted_total",
            .counter,
            help: "Connections without a call that were ended to make room for others.",
            loops.sum { $0.connectionsEvicted }
        )
        text.single(
            "vestibule_rpc_server_connections_refused_total",
            .counter,
            help: "Connections that were not taken, since their address had too many.",
            loops.sum { $0.connectionsRefused }
        )
        text.single(
            "vestibule_rpc_server_streams",
            .gauge,
            help: "Requests of callers that are being answered.",
            loops.sum { $0.serverStreams.current }
        )
        text.single(
            "vestibule_rpc_server_handlers",
            .gauge,
            help: "Handlers of calls that run, those of calls among them that have ended.",
            loops.sum { $0.handlers }
        )
        text.single(
            "vestibule_rpc_server_held_bytes",
            .gauge,
            help: "Bytes of answers, requests and messages that callers make the server hold.",
            loops.sum { $0.heldBytes }
        )
        text.single(
            "vestibule_rpc_server_calls_shed_total",
            .counter,
            help: "Calls that were refused because there were too many, or too much was waiting for their caller.",
            loops.sum { $0.callsShed }
        )
    }
}

extension Sequence {
    fileprivate func sum(_ number: (Element) -> UInt64) -> Double { Double(reduce(0) { $0 + number($1) }) }
}

extension MetricsRegistry {
    /// Adds what the loops of a process do, and the calls that it makes.
    ///
    /// - Parameter hasServer: whether a server of ours is on them.
    public func addLoops(of group: EventLoopGroup, hasServer: Bool) {
        add(CallMetrics(side: .client) { group.clientCalls })
        add(LoopMetrics(group: group, hasServer: hasServer))
    }
}
