import HTTP
import RPC
import ServiceLifecycle
import Synchronization

/// Serves a router's methods by gRPC and, if it has a handler for them, other requests of HTTP/2 and HTTP/1.x on the same port.
/// Every loop of the group has a listening socket of its own.
///
/// In clear text HTTP/2 is distinguished from HTTP/1.x by its preface (RFC 9113 section 3.4), under TLS by ALPN.
///
/// It is a `Service`: put it into a `ServiceGroup`, or use `withRPCServer`. Call `start` before `run` to learn the port
/// first. A server that nobody holds any more closes its sockets.
public final class RPCServer: Service {
    private let group: EventLoopGroup
    private let router: Router
    private let http: (any HTTPHandler)?
    private let configuration: ServerConfiguration

    /// States: idle → starting → serving → over; starting → idle where it cannot listen; over from each.
    private enum Phase { case idle, starting, serving, over }
    private struct State {
        var phase = Phase.idle
        /// Whether `run` was called.
        var isRun = false
        var listeners: [LoopListener] = []
        var isDrained = false
        /// Of the configuration, or fewer; nil before it was started.
        var connectionsMax: Int?
    }
    private let state = Mutex(State())
    /// Opened when somebody wants it to stop.
    private let stop = Latch()

    /// Prepares a server; nothing is opened yet. `http` answers requests that are no gRPC calls, on the loop of their connection;
    /// without it they get a plain 404, 405 or 415, and HTTP/1.x is not spoken.
    public init(
        group: EventLoopGroup,
        router: Router,
        http: (any HTTPHandler)? = nil,
        configuration: ServerConfiguration
    ) {
        self.group = group
        self.router = router
        self.http = http
        self.configuration = configuration
    }

    deinit {
        for listener in listeners { listener.loop.execute { listener.close() } }
    }

    /// The most connections at once, on all loops: those of the configuration, or from the start on as many as the process's limit
    /// of open files leaves (RLIMIT_NOFILE less a reserve). The first server of a process that starts raises its soft limit to the
    /// hard one.
    public var connectionsMax: Int { state.withLock { $0.connectionsMax } ?? configuration.connectionsMax }

    private var listeners: [LoopListener] { state.withLock { $0.listeners } }

    /// Starts the server, unless it was started, and serves until it is to stop.
    ///
    /// A graceful shutdown of its `ServiceGroup` lets the calls in flight finish, as `drain` does. Cancellation ends them at
    /// once, also while they are being drained. `drain`, `shutdown` and the end of the event loops make it return as well.
    ///
    /// Throws what `start` throws, `TransportError.alreadyRun` if it was run before, and `TransportError.closed` after
    /// `shutdown`.
    public func run() async throws {
        let phase = try state.withLock { state in
            guard !state.isRun else { throw TransportError.alreadyRun }
            state.isRun = state.phase == .idle || state.phase == .serving
            return state.phase
        }
        switch phase {
        case .idle: try await startToRun()
        case .starting: throw TransportError.argument("the server is being started")
        case .serving: break
        case .over: throw TransportError.closed
        }
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await stop.wait()
            } onGracefulShutdown: { [stop] in
                stop.open()
            }
            if !Task.isCancelled { await drain() }
        } onCancel: {
            stop.open()
            for listener in listeners { listener.loop.execute { listener.close() } }
        }
        await shutdown()
    }

    /// Starts as a part of `run`, which may be called again if it fails.
    private func startToRun() async throws {
        do {
            try await start()
        } catch {
            state.withLock { $0.isRun = false }
            throw error
        }
    }

    /// Listens on every loop and returns the port. May be called once. Throws `TransportError`, and then nothing is left
    /// open; after `shutdown` that is `TransportError.closed`. A process that may open too few files is `TransportError.argument`.
    @discardableResult
    public func start() async throws -> Int {
        try state.withLock { state in
            guard state.phase == .idle else {
                throw state.phase == .over ? TransportError.closed : .argument("the server was started twice")
            }
            state.phase = .starting
        }
        do {
            let port = try await listen()
            let isServing = state.withLock { state in
                if state.phase == .starting, !state.isDrained { state.phase = .serving }
                return state.phase == .serving
            }
            guard isServing else { throw TransportError.closed }
            return port
        } catch {
            await closeListeners()
            state.withLock { if $0.phase == .starting { $0.phase = .idle } }
            throw error
        }
    }

    private func listen() async throws -> Int {
        let tls = try configuration.tls.map { try TLSRules($0, side: .server) }
        var configuration = try configuration.fitted(to: .ofProcess, loopCount: group.loops.count)
        state.withLock { $0.connectionsMax = configuration.connectionsMax }
        for (index, loop) in group.loops.enumerated() {
            let listener = try await loop.run { [configuration, router, http, stop, count = group.loops.count] in
                let listener = try LoopListener(
                    loop: loop,
                    router: router,
                    http: http,
                    configuration: configuration,
                    tls: tls,
                    loopCount: count,
                    joinsPort: index > 0
                )
                listener.onLoopEnd = { stop.open() }
                return listener
            }
            configuration.port = listener.port  // the others join the port that the first one got
            state.withLock { $0.listeners.append(listener) }
        }
        return configuration.port
    }

    /// Reads the files of certificates and keys again, for new connections. Open connections keep theirs. Throws
    /// `TransportError.tls`, and then nothing has changed. Any thread.
    public func reloadCertificates() async throws {
        guard let tls = try configuration.tls.map({ try TLSRules($0, side: .server) }) else { return }
        for listener in listeners { try await listener.loop.run { listener.use(tls) } }
    }

    /// Takes no new connections and calls, tells clients so (GOAWAY), and waits until the calls in flight have ended, at
    /// most for `ConnectionLimits.drainTimeout`. A cancelled task waits as well.
    public func drain() async {
        state.withLock { $0.isDrained = true }
        stop.open()
        let end = Deadline.after(configuration.limits.drainTimeout)
        let listeners = listeners
        for listener in listeners { listener.loop.execute { listener.drain() } }
        for listener in listeners { await listener.waitUntilEmpty(deadline: end) }
    }

    /// What the listeners count in.
    var callTables: [CallTable] { listeners.map(\.calls.table) }
    /// The methods that can be called, in the order of the rows.
    var methodPaths: [String] { router.methods.map(\.descriptor.path) }

    /// Closes all sockets at once. Calls in flight are cancelled.
    public func shutdown() async {
        state.withLock { $0.phase = .over }
        stop.open()
        await closeListeners()
    }

    private func closeListeners() async {
        let listeners = state.withLock { state in
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in listeners {
            // Never at once, also on the listener's own loop: a handler that has not waited yet runs inside a callback of
            // the connection that this frees.
            await withCheckedContinuation { continuation in
                listener.loop.execute {
                    listener.close()
                    continuation.resume()
                }
            }
        }
    }
}

/// Serves while a closure runs, which gets the port. When the closure returns, the calls in flight may finish
/// (`RPCServer.drain`); when it throws or its task was cancelled, everything is closed at once.
///
/// Throws what `RPCServer.start` and the closure throw.
public nonisolated(nonsending) func withRPCServer<Result>(
    group: EventLoopGroup,
    router: Router,
    http: (any HTTPHandler)? = nil,
    configuration: ServerConfiguration = .init(),
    _ body: (_ server: RPCServer, _ port: Int) async throws -> Result
) async throws -> Result {
    let server = RPCServer(group: group, router: router, http: http, configuration: configuration)
    let port = try await server.start()
    do {
        let result = try await body(server, port)
        if !Task.isCancelled { await server.drain() }
        await server.shutdown()
        return result
    } catch {
        await server.shutdown()
        throw error
    }
}
