import RPC
import RPCTransport
import Synchronization

/// Listens on one channel over a connection of its own, and connects again when that is lost.
///
/// Notifications only make things sooner: one that is sent while the connection is away is lost.
///
/// Unchecked: `connection` and `failures` are touched on the loop's thread only.
public final class PostgresListener: @unchecked Sendable {
    private let channel: String
    private let configuration: PostgresConfiguration
    private let loop: EventLoop
    private let onNotify: @Sendable (String) -> Void
    private let cancelled = Mutex(false)
    private var connection: Connection?
    private var failures = 0
    private let backoff = Backoff()

    init(
        channel: String,
        configuration: PostgresConfiguration,
        loop: EventLoop,
        onNotify: @escaping @Sendable (String) -> Void
    ) {
        self.channel = channel
        self.configuration = configuration
        self.loop = loop
        self.onNotify = onNotify
    }

    /// Ends it. Notifications that are on their way may still come. Any thread.
    public func cancel() {
        let wasCancelled = cancelled.withLock { cancelled in
            defer { cancelled = true }
            return cancelled
        }
        guard !wasCancelled else { return }
        loop.execute { [self] in connection?.close("cancelled") }
    }

    var isCancelled: Bool { cancelled.withLock { $0 } }

    func start() { loop.execute { [self] in open() } }

    private func open() {
        guard !isCancelled else { return }
        let connection = Connection(slot: 0, loop: loop, configuration: configuration, owner: self)
        self.connection = connection
        connection.open()
        watchProgress(of: connection)
    }

    /// Ends an attempt to connect, or to listen, that takes too long.
    private func watchProgress(of connection: Connection) {
        loop.schedule(after: configuration.connectTimeout) { [weak connection] in
            guard let connection, connection.phase == .connecting || !connection.isIdle else { return }
            connection.close("listening took too long to begin")
        }
    }
}

extension PostgresListener: ConnectionOwner {
    func connectionOpened(_ connection: Connection) {
        // An identifier can't be a parameter; quoted, it may hold anything.
        let name =
            "\"" + channel.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        let request = Request(
            query: Query(unsafeSQL: "LISTEN \(name)"),
            kind: .inTransaction,
            deadline: .after(configuration.connectTimeout),
            waitDeadline: .now(),
            continuation: nil
        )
        request.whenDone = { [weak self] result in
            guard case .success = result, let self else { return }
            self.failures = 0
            self.onNotify("")
        }
        connection.submit(request)
    }

    func connectionClosed(_ connection: Connection, reason: String, orphans: [Request]) {
        self.connection = nil
        failures += 1
        guard !isCancelled else { return }
        let delay = backoff.delay(attempt: failures, random: .random(in: 0..<1))
        loop.schedule(after: delay) { [self] in open() }
    }

    func connectionWantsFlush(_ connection: Connection) {
        // Only LISTEN is ever sent, and not from inside the connection's own call.
        loop.schedule(after: .zero) { [weak connection] in connection?.flush() }
    }

    func connectionNotified(_ connection: Connection, channel: String, payload: String) { onNotify(payload) }

    func requestsFinished(_ connection: Connection, count: Int) {}
}
