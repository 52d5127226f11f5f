import Logging

/// What a process measures, and the port where that is told; without a port nothing is.
public struct ServedMetrics: Sendable {
    /// The sources.
    public let registry: MetricsRegistry
    private let server: MetricsServer?

    /// Serves what the registry holds. Throws `MetricsListenError`.
    ///
    /// - Parameters:
    ///   - program: the process's name.
    ///   - address: where; nil for nowhere.
    public init(
        program: String,
        address: HostPort?,
        registry: MetricsRegistry,
        logger: Logger
    ) throws(MetricsListenError) {
        self.registry = registry
        guard let address else {
            server = nil
            return
        }
        registry.add(ProcessMetrics(program: program))
        let server = try MetricsServer(address: address, registry: registry)
        self.server = server
        if !address.isLoopback {
            logger.warning(
                "exposed",
                metadata: ["problem": "others than this machine may read the metrics of \(program)"]
            )
        }
        logger.notice(
            "metrics",
            metadata: ["address": "\(HostPort(host: address.host, port: server.port))"]
        )
    }

    /// The port; nil where nothing is served.
    public var port: Int? { server?.port }

    /// Ends serving. Must be called before this is let go.
    public func stop() async { await server?.stop() }
}
