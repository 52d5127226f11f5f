import CRPC
import RPC
import Synchronization

/// Serves a router's methods over HTTP/2 on every loop of a group, each with a listening socket of its own.
///
/// Serves from `start` on, until `shutdown` or for as long as somebody holds it: one that is let go closes everything. `run`
/// holds it for you.
public final class RPCServer: Sendable {
    private let group: EventLoopGroup
    private let router: Router
    private let configuration: ServerConfiguration

    /// States: idle → starting → serving → over; starting → idle where it cannot listen; over from each.
    private enum Phase { case idle, starting, serving, over }
    private struct State {
        var phase = Phase.idle
        var listeners: [LoopListener] = []
        var isDrained = false
    }
    private let state = Mutex(State())
    /// Opened when somebody wants it to stop.
    private let stop = Latch()

    /// Prepares a server; nothing is opened yet.
    public init(group: EventLoopGroup, router: Router, configuration: ServerConfiguration) {
        self.group = group
        self.router = router
        self.configuration = configuration
    }

    deinit {
        for listener in listeners { listener.loop.execute { listener.close() } }
    }

    private var listeners: [LoopListener] { state.withLock { $0.listeners } }

    /// Starts the server, unless it was started, and serves until somebody calls `drain` or `shutdown`, the group ends, or
    /// the task is cancelled. After `drain` it lets the calls finish, as that does; then it closes everything. Throws what
    /// `start` does, `TransportError.closed` where somebody shut it down before, and `.argument` while somebody else is
    /// starting it.
    public func run() async throws {
        switch state.withLock({ $0.phase }) {
        case .idle: try await start()
        case .starting: throw TransportError.argument("the server is being started")
        case .serving: break
        case .over: throw TransportError.closed
        }
        await withTaskCancellationHandler {
            await stop.wait()
        } onCancel: {
            stop.open()
        }
        if !Task.isCancelled { await drain() }
        await shutdown()
    }

    /// Listens on every loop and returns the port. Throws `TransportError`; then nothing is left open. To be called once:
    /// throws `TransportError.closed` after `shutdown`.
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
        var configuration = configuration
        for (index, loop) in group.loops.enumerated() {
            let listener = try await loop.run { [configuration, router, stop, count = group.loops.count] in
                let listener = try LoopListener(
                    loop: loop,
                    router: router,
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

    /// New connections use the certificates that the files hold now; those there keep theirs. Throws
    /// `TransportError.tls`, and then nothing changed. Any thread.
    public func reloadCertificates() async throws {
        guard let tls = try configuration.tls.map({ try TLSRules($0, side: .server) }) else { return }
        for listener in listeners { try await listener.loop.run { listener.use(tls) } }
    }

    /// Takes no new connections and calls, tells clients so, and waits until the calls in flight have ended, at most
    /// for the limit of the configuration. Whether or not the task is cancelled.
    public func drain() async {
        state.withLock { $0.isDrained = true }
        stop.open()
        let end = Deadline.after(configuration.limits.drainTimeout)
        let listeners = listeners
        for listener in listeners { listener.loop.execute { listener.drain() } }
        for listener in listeners { await listener.waitUntilEmpty(deadline: end) }
    }

    /// What the listeners count in.
    var callTables: [CallTable] { listeners.map(\.calls) }
    /// The methods that can be called, in the order of the rows.
    var methodPaths: [String] { router.methods.map(\.descriptor.path) }

    /// Closes all sockets at once; calls in flight are cancelled.
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
