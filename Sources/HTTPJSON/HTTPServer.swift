import HTTP
import Logging
import RPC
import RPCTransport

/// A server of routes by HTTP/1.1 and HTTP/2, and of a router's methods on the same port.
public struct HTTPServer: Sendable {
    /// Where and how it listens.
    public struct Configuration: Sendable {
        /// The address to listen on, in digits; see ``inDigits()``.
        public var host: String
        /// The port to listen on; 0 lets the system choose.
        public var port: Int
        /// The bounds.
        public var limits: HTTPLimits
        /// How long a stop waits for requests in flight.
        public var drainLimit: Duration
        /// Certificate and key; nil for clear text.
        public var tls: TLSConfiguration?
        /// The networks of proxies whose connections begin with a header of PROXY protocol v2.
        public var proxyProtocol: [ProxyNetwork] = []

        /// A configuration.
        public init(
            host: String,
            port: Int,
            limits: HTTPLimits = HTTPLimits(),
            drainLimit: Duration = .seconds(20),
            tls: TLSConfiguration? = nil
        ) {
            self.host = host
            self.port = port
            self.limits = limits
            self.drainLimit = drainLimit
            self.tls = tls
        }

        /// The same with the first address of a host that is a name. Asks the system once.
        ///
        /// - Throws: `HTTPListenError` if the name has none.
        public func inDigits() async throws(HTTPListenError) -> Configuration {
            guard let address = await SystemNameResolver().addresses(of: host).first else {
                throw HTTPListenError(host: host, port: port, "no such host")
            }
            var configuration = self
            configuration.host = address
            return configuration
        }
    }

    private let configuration: Configuration
    private let logger: Logger
    private let server: RPCServer

    /// A server; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - handler: answers what is no gRPC.
    ///   - router: the methods that gRPC clients may call; none by default.
    ///   - group: the loops that it listens on.
    public init(
        _ handler: some HTTPHandler,
        router: Router = Router(),
        configuration: Configuration,
        group: EventLoopGroup,
        logger: Logger
    ) {
        self.configuration = configuration
        self.logger = logger
        server = RPCServer(group: group, router: router, http: handler, configuration: configuration.transport)
    }

    /// Reads the files of certificates and keys again, for new connections. Throws `TransportError.tls`, and then nothing has
    /// changed.
    public func reloadCertificates() async throws { try await server.reloadCertificates() }

    /// Serves until `stop` returns, then lets requests in flight end, at most for the drain limit.
    ///
    /// - Parameters:
    ///   - stop: returns when the server shall stop.
    ///   - onListening: called with the port once clients can connect.
    /// - Throws: `HTTPListenError` if the address cannot be had, `TransportError` for certificates that cannot be used.
    public func run(
        stop: @escaping @Sendable () async -> Void,
        onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) async throws {
        let port: Int
        do {
            port = try await server.start()
        } catch let error as TransportError {
            guard let error = HTTPListenError(host: configuration.host, port: configuration.port, error) else {
                throw error
            }
            throw error
        }
        if server.connectionsMax < configuration.limits.connectionsMax {
            let metadata: Logger.Metadata = [
                "connections": .stringConvertible(server.connectionsMax),
                "configured": .stringConvertible(configuration.limits.connectionsMax),
            ]
            logger.warning("fewer connections than configured: the limit of open files is too low", metadata: metadata)
        }
        logger.info("listening", metadata: ["host": "\(configuration.host)", "port": .stringConvertible(port)])
        await onListening(port)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            // Returns when it has drained, or its loops have ended.
            tasks.addTask { try await server.run() }
            tasks.addTask {
                await stop()
                guard !Task.isCancelled else { return }
                logger.info("draining")
                await server.drain()
            }
            try await tasks.next()
            tasks.cancelAll()
        }
        await server.shutdown()
    }
}

extension HTTPServer.Configuration {
    /// As the transport takes it.
    package var transport: ServerConfiguration {
        var server = ServerConfiguration(host: host, port: port, tls: tls)
        server.acceptsProxyProtocol = proxyProtocol
        server.connectionsMax = limits.connectionsMax
        server.connectionsPerAddressMax = limits.connectionsPerAddressMax
        server.limits.messageBytesMax = limits.bodyBytesMax
        server.limits.headerBytesMax = limits.headerBytesMax
        server.limits.headerFieldsMax = limits.headerFieldsMax
        server.limits.headTimeout = min(server.limits.headTimeout, limits.idleTimeout)
        server.limits.keepAliveTimeout = limits.idleTimeout
        server.limits.idleTimeout = limits.idleTimeout
        server.limits.connectionAgeMax = limits.connectionAgeMax
        server.limits.bodyTimeout = limits.requestTimeout
        server.limits.drainTimeout = drainLimit
        return server
    }
}
