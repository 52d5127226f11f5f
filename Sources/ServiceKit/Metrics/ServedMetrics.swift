import Logging
import ServiceLifecycle

/// Serves a process's metrics, if a port is configured.
public struct ServedMetrics: Service {
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
        let server: MetricsServer
        do throws(MetricsListenError) {
            server = try MetricsServer(address: address, registry: registry)
        } catch {
            let key = SharedKeys.metricsListen(program: program).name
            throw MetricsListenError(address: address, reason: "\(error.reason). \(key) names another address")
        }
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

    /// Waits for a graceful shutdown, or for its task to be cancelled, and ends serving then.
    public func run() async {
        try? await gracefulShutdown()
        await server?.stop()
    }
}
