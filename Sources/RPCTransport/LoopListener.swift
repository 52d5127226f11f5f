import CRPC
import Glibc
import HTTP
import RPC

/// One loop's listening socket with its connections. Loop thread only, but for the constants.
final class LoopListener: @unchecked Sendable {
    // Sound because everything but the constants is touched on the loop's thread only, which each entry checks.

    let loop: EventLoop
    let methods: [MethodHandler]
    /// What answers requests that are no gRPC calls; nil where none are taken.
    let http: (any HTTPHandler)?
    /// Loop thread.
    var authorities = LastAuthority()
    /// Bytes of one received message.
    let messageBytesMax: Int
    /// Counts the calls: a row for each method, and one for requests to no method.
    let calls: CallCounter
    /// The port; constant after `init`.
    private(set) var port = 0
    private var handle: OpaquePointer?
    /// Called when the loop has ended under it. Loop thread.
    var onLoopEnd: (() -> Void)?
    /// Who waits until there is no connection.
    private var waitingForEmpty: [Int: (continuation: CheckedContinuation<Void, Never>, timer: LoopTimer)] = [:]
    private var nextWait = 0

    /// Listens. Throws `TransportError`.
    ///
    /// - Parameter joinsPort: whether another loop's listener has the configuration's port; else nobody may have it.
    init(
        loop: EventLoop,
        router: Router,
        http: (any HTTPHandler)?,
        configuration: ServerConfiguration,
        tls: TLSRules?,
        loopCount: Int,
        joinsPort: Bool
    ) throws {
        loop.preconditionIsCurrent()
        guard !loop.isEnding else { throw TransportError.closed }
        self.loop = loop
        methods = router.methods
        self.http = http
        messageBytesMax = configuration.limits.messageBytesMax
        calls = try CallCounter(router.methods.map(\.descriptor))
        var options = configuration.rawOptions(tls: tls, calls: calls.table, loopCount: loopCount, joinsPort: joinsPort)
        let code = listen(configuration, &options)
        try TransportError.check(code, "listening on \(configuration.host) port \(configuration.port)")
        if let handle { port = Int(crpc_listener_port(handle)) }
        loop.closeAtEnd(self) { [self] in
            close()
            onLoopEnd?()
        }
    }

    private func listen(_ configuration: ServerConfiguration, _ options: inout crpc_listener_options) -> Int32 {
        let names = configuration.serverNames
        let proxies = configuration.acceptsProxyProtocol.map(\.raw)
        return configuration.host.withCString { host in
            methods.map(\.descriptor.path).withCStrings { paths in
                (names ?? []).withCStrings { nameTexts in
                    proxies.withUnsafeBufferPointer { proxies in
                        options.address = host
                        options.names = nameTexts.baseAddress
                        options.name_count = UInt32(nameTexts.count)
                        options.checks_names = names != nil
                        options.proxies = proxies.baseAddress
                        options.proxy_count = proxies.count
                        // Unretained: the listener is closed before this object goes.
                        return crpc_listener_new(
                            loop.handle,
                            &options,
                            paths.baseAddress,
                            UInt32(paths.count),
                            http == nil ? ServerCallbacks.calls : ServerCallbacks.callsAndExchanges,
                            Unmanaged.passUnretained(self).toOpaque(),
                            &handle
                        )
                    }
                }
            }
        }
    }

    private var connectionCount: Int { handle.map { Int(crpc_listener_connection_count($0)) } ?? 0 }

    /// New connections use these rules.
    func use(_ tls: TLSRules) {
        loop.preconditionIsCurrent()
        if let handle { crpc_listener_set_tls(handle, tls.handle) }
    }

    /// Takes nothing new and lets the calls there finish.
    func drain() {
        loop.preconditionIsCurrent()
        if let handle { crpc_listener_drain(handle) }
    }

    /// Returns when there is no connection any more, at the latest at the deadline. Any executor; after `drain`.
    func waitUntilEmpty(deadline: Deadline) async {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                guard connectionCount > 0 else { return continuation.resume() }
                nextWait += 1
                let timer = loop.schedule(after: deadline.remaining) { [weak self, wait = nextWait] in
                    self?.waitingForEmpty.removeValue(forKey: wait)?.continuation.resume()
                }
                waitingForEmpty[nextWait] = (continuation, timer)
            }
        }
    }

    /// There is no connection any more, and none will come.
    func isEmpty() {
        let waiting = waitingForEmpty
        waitingForEmpty = [:]
        for (continuation, timer) in waiting.values {
            timer.cancel()
            continuation.resume()
        }
    }

    /// Closes everything; calls in flight are cancelled before this returns. Not inside a callback of one of them, as a
    /// handler may be that has not waited yet: it comes by `execute`.
    func close() {
        loop.preconditionIsCurrent()
        guard let handle else { return }
        self.handle = nil
        loop.closed(self)
        crpc_listener_free(handle)
        isEmpty()
    }

    deinit { precondition(handle == nil, "a listener must be closed before it is let go") }
}

extension [String] {
    /// The texts as C has them, while the closure runs.
    fileprivate func withCStrings<R>(_ body: (UnsafeBufferPointer<UnsafePointer<CChar>?>) -> R) -> R {
        let copies = map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return copies.map { UnsafePointer($0) }.withUnsafeBufferPointer(body)
    }
}
