import CRPC
import RPC
import Synchronization

/// Serves a router's methods over HTTP/2 on every loop of a group, each with a listening socket of its own.
public final class RPCServer: Sendable {
    private let group: EventLoopGroup
    private let router: Router
    private let configuration: ServerConfiguration
    private let listeners = Mutex<[LoopListener]>([])

    /// Prepares a server; nothing is opened yet.
    public init(group: EventLoopGroup, router: Router, configuration: ServerConfiguration) {
        self.group = group
        self.router = router
        self.configuration = configuration
    }

    /// Listens on every loop and returns the port. Throws `TransportError`; then nothing is left open.
    @discardableResult
    public func start() async throws -> Int {
        let tls = try configuration.tls.map { try TLSRules($0, side: .server) }
        var configuration = configuration
        do {
            for (index, loop) in group.loops.enumerated() {
                let listener = try await loop.run { [configuration, router, count = group.loops.count] in
                    try LoopListener(
                        loop: loop,
                        router: router,
                        configuration: configuration,
                        tls: tls,
                        loopCount: count,
                        joinsPort: index > 0
                    )
                }
                configuration.port = listener.port  // the others join the port that the first one got
                listeners.withLock { $0.append(listener) }
            }
        } catch {
            await shutdown()
            throw error
        }
        return configuration.port
    }

    /// New connections use the certificates that the files hold now; those there keep theirs. Throws
    /// `TransportError.tls`, and then nothing changed. Any thread.
    public func reloadCertificates() async throws {
        guard let tls = try configuration.tls.map({ try TLSRules($0, side: .server) }) else { return }
        for listener in listeners.withLock({ $0 }) { try await listener.loop.run { listener.use(tls) } }
    }

    /// Takes no new connections and calls, tells clients so, and waits until the calls in flight have ended, at most
    /// for the limit of the configuration.
    public func drain() async {
        let listeners = listeners.withLock { $0 }
        for listener in listeners { listener.loop.execute { listener.drain() } }
        let end = Deadline.after(configuration.limits.drainTimeout)
        while !end.hasPassed {
            var count = 0
            for listener in listeners { count += (try? await listener.loop.run { listener.connectionCount }) ?? 0 }
            if count == 0 { return }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// What the listeners count in.
    var callTables: [CallTable] { listeners.withLock { $0.map(\.calls) } }
    /// The methods that can be called, in the order of the rows.
    var methodPaths: [String] { router.methods.map(\.descriptor.path) }

    /// Closes all sockets at once; calls in flight are cancelled.
    public func shutdown() async {
        let listeners = listeners.withLock { listeners in
            defer { listeners = [] }
            return listeners
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
