import RPC
import RPCTransport

/// A connection that does nothing but LISTEN, made anew whenever it is lost. Loop's thread only.
final class NotificationListener {
    /// How exactly the limits of connecting are kept.
    private static let sweepInterval: Duration = .milliseconds(500)
    private static let backoff = Backoff(first: .milliseconds(100), max: .seconds(5))

    private let loop: EventLoop
    private let configuration: PostgresConfiguration
    private let addresses: ServerAddresses
    private let channel: String
    private let notified: @Sendable () -> Void
    private let maker = ConnectionMaker()
    private var connection: Connection?
    private var failures = 0
    private var isStopped = false

    init(
        loop: EventLoop,
        configuration: PostgresConfiguration,
        channel: String,
        notified: @escaping @Sendable () -> Void
    ) {
        self.loop = loop
        self.configuration = configuration
        self.channel = channel
        self.notified = notified
        addresses = ServerAddresses(hosts: configuration.hosts, resolver: configuration.resolver)
    }

    func start() {
        guard !isStopped else { return }
        loop.closeAtEnd(self) { self.stop() }
        open()
    }

    func stop() {
        isStopped = true
        loop.closed(self)
        connection?.close("nobody listens any more")
        connection = nil
    }

    private func open() {
        guard !isStopped, connection == nil else { return }
        let connection = Connection(
            slot: 0,
            loop: loop,
            configuration: configuration,
            addresses: addresses,
            maker: maker,
            owner: self
        )
        connection.whenNotified = notified
        self.connection = connection
        connection.open()
        sweep()
    }

    /// Watches over the attempt to connect and the one statement; the idle connection is watched by the system.
    private func sweep() {
        guard let connection, connection.phase == .connecting || !connection.isIdle else { return }
        _ = connection.sweep(now: .now())
        guard self.connection === connection else { return }
        loop.schedule(after: Self.sweepInterval) { [weak self] in self?.sweep() }
    }

    private func listen(on connection: Connection) {
        let deadline = Deadline.after(configuration.queryTimeout)
        let request = StatementRequest(
            query: Query(unsafeSQL: "LISTEN \(channel)"),
            kind: .write,
            deadline: deadline,
            waitDeadline: deadline,
            continuation: nil
        )
        request.whenDone = { [weak self, weak connection] result in
            guard let self, let connection, self.connection === connection else { return }
            guard case .success = result else { return connection.close("it can't listen") }
            self.failures = 0
            // Nobody knows what was missed until now.
            self.notified()
        }
        connection.submit(request)
    }
}

extension NotificationListener: ConnectionOwner {
    func connectionOpened(_ connection: Connection) { listen(on: connection) }

    func connectionClosed(_ connection: Connection, reason: String, orphans: [StatementRequest]) {
        for orphan in orphans { orphan.lose() }
        guard self.connection === connection, !isStopped else { return }
        self.connection = nil
        failures += 1
        loop.schedule(after: Self.backoff.wait(failures: failures, random: .random(in: 0..<1))) { [weak self] in
            self?.open()
        }
    }

    func requestsFinished(_ connection: Connection, count: Int) {}

    // No transaction gets its connection.
    func requestsLeft(_ connection: Connection, _ requests: [StatementRequest]) { requests.forEach { $0.lose() } }

    func connectionWantsFlush(_ connection: Connection) {
        // Not out of the call that asks for it.
        loop.schedule(after: .zero) { [weak connection] in connection?.flush() }
    }

    var refusedWrites: RefusedWrites? { nil }

    func takeKey(_ key: LockKey) -> Bool { true }

    func freeKey(_ key: LockKey) {}
}

extension PostgresClient {
    /// Listens for what others NOTIFY on a channel, with a connection of its own, until the task is cancelled. A connection that
    /// is lost is made anew, with pauses.
    ///
    /// Notifications are lost with a connection and never certain: a caller polls as well. What they carry is not told. Where no session can
    /// be had (``PostgresPooler/transaction`` without ``PostgresConfiguration/direct``) none comes.
    ///
    /// - Parameters:
    ///   - channel: a plain identifier of SQL: lower-case letters, digits and underscores.
    ///   - notified: called on a loop after one or more came, and once after each connect. It must not block.
    public func listen(on channel: String, _ notified: @escaping @Sendable () -> Void) async {
        precondition(MigrationPlan.isPlain(channel), "the channel must be a plain identifier")
        // Ends with the task only.
        let (never, continuation) = AsyncStream<Never>.makeStream()
        defer { continuation.finish() }
        guard let configuration = configuration.forSessions else {
            for await _ in never {}
            return
        }
        let loop = group.next()
        let listener = LoopBound(
            NotificationListener(loop: loop, configuration: configuration, channel: channel, notified: notified),
            loop: loop
        )
        loop.execute { listener.value.start() }
        for await _ in never {}
        loop.execute { listener.value.stop() }
    }
}
