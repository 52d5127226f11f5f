import Hummingbird
import JOSE
import Logging
import NIOCore
import RPC
import ServiceLifecycle
import Synchronization
import Tracing

/// An HTTP/1.1 server of JSON routes on Hummingbird.
public struct HTTPServer: Sendable {
    /// What distinguishes one server from another.
    public struct Configuration: Sendable {
        /// The address or name to listen on.
        public var host: String
        /// The port to listen on; 0 lets the system choose.
        public var port: Int
        /// The bounds.
        public var limits: HTTPLimits
        /// `max-age` of Strict-Transport-Security; 0 sends none.
        public var strictTransportSeconds: Int64
        /// How long a stop waits for requests in flight.
        public var drainLimit: Duration
        /// Makes the ids of requests that bring none.
        public var makeRequestID: @Sendable () -> String
        /// Whether a path may end with a slash that its route does not have: false, so that each has one spelling.
        public var takesTrailingSlash = false
        /// The pages of other origins that may call the routes; nil for none.
        public var crossOrigin: CrossOrigin?
        /// Makes a span of each request; nil for none. By default the program's tracer, if it has installed one by now.
        public var tracer: (any Tracer)? = InstrumentationSystem.installedTracer

        /// A configuration.
        public init(
            host: String,
            port: Int,
            limits: HTTPLimits = HTTPLimits(),
            strictTransportSeconds: Int64 = 0,
            drainLimit: Duration = .seconds(20),
            makeRequestID: @escaping @Sendable () -> String = { Hex.encode(SecureRandom.bytes(16)) }
        ) {
            self.host = host
            self.port = port
            self.limits = limits
            self.strictTransportSeconds = strictTransportSeconds
            self.drainLimit = drainLimit
            self.makeRequestID = makeRequestID
        }
    }

    private let routes: [Route]
    private let configuration: Configuration
    private let logger: Logger
    private let problem: @Sendable (any Error) -> Problem
    private let render: @Sendable (Problem, Request) -> Response
    private let admit: @Sendable (Request, RouteContext) throws -> Void
    private let observe: @Sendable (RequestOutcome) -> Void

    /// A server.
    ///
    /// - Parameters:
    ///   - routes: every path that it answers.
    ///   - configuration: where and how.
    ///   - logger: for one line a request, and failures.
    ///   - problem: the problem for an error that a route threw and that is none yet.
    ///   - render: how a problem is told to the client of a request: by default as RFC 9457 has it. Logs and counts have the
    ///     problem's own code whatever it makes of it.
    ///   - admit: throws a problem for a request that must not reach its route, such as one too many.
    ///   - observe: told what became of each request, on the thread of its connection.
    public init(
        routes: [Route],
        configuration: Configuration,
        logger: Logger,
        problem: @escaping @Sendable (any Error) -> Problem = { .internalError(cause: $0) },
        render: @escaping @Sendable (Problem, Request) -> Response = { problem, _ in problem.response() },
        admit: @escaping @Sendable (Request, RouteContext) throws -> Void = { _, _ in },
        observe: @escaping @Sendable (RequestOutcome) -> Void = { _ in }
    ) {
        self.routes = routes
        self.configuration = configuration
        self.logger = logger
        self.problem = problem
        self.render = render
        self.admit = admit
        self.observe = observe
    }

    /// The application, for tests without sockets and for ``run(stop:onListening:)``.
    ///
    /// - Parameter onListening: called with the port once clients can connect; requests are answered when it returns.
    public func application(
        onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        let limits = configuration.limits
        let router = Hummingbird.Router(context: EdgeContext.self, options: .autoGenerateHeadEndpoints)
        if let tracer = configuration.tracer { router.add(middleware: RouteTracing(tracer: tracer)) }
        router.add(
            middleware: RouteMiddleware(
                logger: logger,
                limits: limits,
                index: RouteIndex(routes),
                strictTransportSeconds: configuration.strictTransportSeconds,
                takesTrailingSlash: configuration.takesTrailingSlash,
                crossOrigin: configuration.crossOrigin.map { CrossOriginRoutes(routes, $0) },
                makeRequestID: configuration.makeRequestID,
                translate: problem,
                render: render,
                admit: admit,
                observe: observe
            )
        )
        for route in routes {
            router.on(RouterPath(route.path), method: route.method) { incoming, edge in
                var context = edge.route ?? RouteContext(incoming, edge)
                context.endpointPath = edge.endpointPath
                context.parameters = RouteParameters(edge.parameters)
                let answer = try await route.handler(Request(incoming), context)
                edge.box.answer.withLock { $0 = answer }
                return Hummingbird.Response(status: answer.status)
            }
        }
        // Hummingbird and its life cycle log sentences at info; our own lines say the same as facts.
        let quiet = Self.quieter(logger)
        let (makeRequestID, observe) = (configuration.makeRequestID, observe)
        return Application(
            router: router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [
                        FramingGuardInstaller { FramingGuard(makeRequestID: makeRequestID, observe: observe) }
                    ],
                    idleTimeout: TimeAmount(limits.idleTimeout),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: limits.headerBytesMax,
                        maxHeaderListSize: limits.headerBytesMax,
                        maxHeaderFieldCount: limits.headerFieldsMax
                    )
                )
            ),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                backlog: 1024,
                availableConnectionsDelegate: .maximum(limits.connectionsMax, logger: quiet)
            ),
            onServerRunning: { await onListening($0.localAddress?.port ?? 0) },
            logger: quiet
        )
    }

    private static func quieter(_ logger: Logger) -> Logger {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        return quiet
    }

    /// Serves until `stop` returns, then lets requests in flight end, at most for the drain limit.
    ///
    /// - Parameters:
    ///   - stop: returns when the server shall stop.
    ///   - onListening: called with the port once clients can connect; requests are answered when it returns.
    /// - Throws: `HTTPListenError` if the address cannot be had.
    public func run(
        stop: @escaping @Sendable () async -> Void,
        onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) async throws {
        let logger = logger
        let host = configuration.host
        let application = application { port in
            logger.info("listening", metadata: ["host": "\(host)", "port": .stringConvertible(port)])
            await onListening(port)
        }
        var lifecycle = ServiceGroupConfiguration(services: [application], logger: Self.quieter(logger))
        lifecycle.maximumGracefulShutdownDuration = configuration.drainLimit
        let group = ServiceGroup(configuration: lifecycle)
        do {
            try await withThrowingTaskGroup(of: Bool.self) { tasks in
                tasks.addTask {
                    try await group.run()
                    return true
                }
                tasks.addTask {
                    await stop()
                    if !Task.isCancelled {
                        logger.info("draining")
                        await group.triggerGracefulShutdown()
                    }
                    return false
                }
                // Until the server has ended: by itself, or because the stop came first.
                while let hasEnded = try await tasks.next(), !hasEnded {}
                tasks.cancelAll()
            }
        } catch let error as IOError {
            throw HTTPListenError(host: host, port: configuration.port, error)
        }
    }
}
