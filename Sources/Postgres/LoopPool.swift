import RPC
import RPCTransport

/// One loop's connections: does what `PoolState` decides. Loop's thread only.
final class LoopPool {
    let loop: EventLoop
    let configuration: PostgresConfiguration
    /// Ends statements of transactions that nobody waits for any more.
    let canceller = StatementCanceller()
    private let addresses: ServerAddresses
    let refusedWrites: RefusedWrites?
    private let maker = ConnectionMaker()
    var state: PoolState
    private(set) var connections: [Connection?]
    var waiting = WaitingRequests()
    var leases: [Lease] = []
    var keyed = KeyedReads()
    private var lockKeys = LockKeys()
    private lazy var flush = TurnFlush(loop) { [weak self] in self?.endTurn() }
    var sweepTimer: LoopTimer?
    /// Between attempts to connect.
    private let backoff = Backoff(first: .milliseconds(50), max: .seconds(1))
    var failures: ConnectionFailures
    private var isClosed = false
    private var drained: [() -> Void] = []
    /// The counters of the pool's metrics.
    private var sums = PoolStatistics()

    /// How exactly deadlines are kept.
    static let sweepInterval: Duration = .milliseconds(10)

    /// After so long without progress, reads leave a connection that a slow statement holds up.
    static let sweepsUntilMove = 10

    init(loop: EventLoop, configuration: PostgresConfiguration, addresses: ServerAddresses, refused: RefusedWrites) {
        self.loop = loop
        self.configuration = configuration
        self.addresses = addresses
        refusedWrites = refused
        failures = ConnectionFailures(report: configuration.onConnectionFailure)
        state = PoolState(
            connectionsMax: configuration.connectionsPerLoop,
            depthMax: configuration.pipelineDepthMax,
            waitersMax: configuration.waitersMax
        )
        connections = Array(repeating: nil, count: max(1, configuration.connectionsPerLoop))
    }

    /// Begins to connect.
    func start() {
        guard !isClosed else { return }
        grow()
    }

    /// Takes a statement outside of transactions; its caller is answered by its deadline.
    func submit(_ request: StatementRequest) {
        guard !isClosed else { return request.finish(.failure(.closed)) }
        sums.statements &+= 1
        place(request)
    }

    private func place(_ request: StatementRequest) {
        switch state.place(.shared) {
        case .slot(let slot):
            send(request, slot)
            if request.sharesCommit { growForCommits() }
        case .wait:
            request.waitDeadline = min(request.deadline, .after(configuration.waitLimit))
            waiting.append(request)
            grow()
        case .refuse:
            sums.refused &+= 1
            request.finish(.failure(.poolExhausted))
        }
        armSweep()
    }

    /// Takes a read by key, which travels with the others of this turn.
    func submit(
        _ read: KeyedRead,
        _ key: ReadKey,
        deadline: Deadline,
        _ continuation: UnsafeContinuation<KeyedBatch.Answer, Never>
    ) {
        guard !isClosed else { return continuation.resume(returning: .failure(.closed)) }
        if keyed.gathering.isEmpty { flush.request() }
        keyed.append(read, key, deadline: deadline, continuation)
    }

    /// Sends the reads by key that this turn asked for, or has them wait.
    private func sendKeyedReads() {
        guard !keyed.gathering.isEmpty else { return }
        for batch in keyed.depart() {
            let request = StatementRequest(
                query: batch.query,
                kind: .read,
                deadline: batch.lastDeadline,
                waitDeadline: batch.lastDeadline,
                continuation: nil
            )
            request.isBatch = true
            request.whenDone = { [weak self] result in
                self?.keyed.ended(batch)
                batch.finish(result)
            }
            submit(request)
        }
    }

    /// Takes a request for a connection of one's own.
    func submit(_ request: LeaseRequest) {
        guard !isClosed else { return request.finish(.failure(.closed)) }
        sums.transactions &+= 1
        switch state.place(.lease) {
        case .slot(let slot): grant(request, slot)
        case .wait:
            waiting.append(request)
            grow()
        case .refuse:
            sums.refused &+= 1
            request.finish(.failure(.poolExhausted))
        }
        armSweep()
    }

    /// A transaction is over: its connection is everyone's again, or closed if its state isn't certain.
    func end(_ lease: Lease, isClean: Bool) {
        guard let index = leases.firstIndex(where: { $0 === lease }) else { return }
        leases.remove(at: index)
        let slot = lease.connection.slot
        // The slot may have another connection by now.
        if connections[slot] === lease.connection {
            state.released(slot)
            lease.connection.isLeased = false
            if isClean && !lease.connection.isLeaving {
                serveWaiters()
            } else {
                lease.connection.close("a transaction did not end in order")
            }
        }
        finishDraining()
    }

    /// Rejects new requests, answers the waiting ones, and calls back when nothing is under way.
    func close(whenDrained: @escaping () -> Void) {
        refuse()
        drained.append(whenDrained)
        guard !loop.isEnding else { return abandon() }  // neither timers nor connections say more
        finishDraining()
        // Statements end by their deadlines, but a transaction's body may sit on its lease for ever.
        loop.schedule(after: configuration.queryTimeout) { [weak self] in self?.abandon() }
        armSweep()
    }

    /// Refuses everything from now on, and closes the connections whatever is under way.
    func stop() {
        refuse()
        abandon()
    }

    private func refuse() {
        sendKeyedReads()
        isClosed = true
        waiting.refuseAll()
    }

    /// Lets go of all that belongs to the loop, whatever is under way. After it the pool may be freed on any thread.
    func abandon() {
        isClosed = true
        loop.closed(self)
        sendKeyedReads()
        let callbacks = drained
        drained = []
        for connection in connections { connection?.close("the client was shut down") }
        connections = connections.map { _ in nil }
        sweepTimer?.cancel()
        sweepTimer = nil
        flush.stop()
        leases = []
        callbacks.forEach { $0() }
    }

    private func finishDraining() {
        guard isClosed, !drained.isEmpty, leases.isEmpty else { return }
        guard connections.allSatisfy({ $0?.isIdle ?? true }) else { return }
        // Later: this may run inside the hook that is to be let go.
        loop.schedule(after: .zero) { [weak self] in self?.abandon() }
    }

    private func send(_ request: StatementRequest, _ slot: Int) {
        guard let connection = connections[slot] else { preconditionFailure("a ready slot without a connection") }
        connection.submit(request)
    }

    private func grant(_ request: LeaseRequest, _ slot: Int) {
        guard let connection = connections[slot] else { preconditionFailure("a ready slot without a connection") }
        connection.isLeased = true
        let lease = Lease(pool: self, connection: connection, deadline: request.deadline)
        leases.append(lease)
        request.finish(.success(lease))
    }

    private func serveWaiters() {
        while let (kind, slot) = state.serveWaiter() {
            switch kind {
            case .shared: waiting.nextStatement().map { send($0, slot) }
            case .lease: waiting.nextLease().map { grant($0, slot) }
            }
        }
    }

    func grow() {
        if !isClosed, let slot = state.slotToOpen() { open(slot) }
    }

    private func growForCommits() {
        if let slot = state.slotToOpenForCommits() { open(slot) }
    }

    private func open(_ slot: Int) {
        let connection = Connection(
            slot: slot,
            loop: loop,
            configuration: configuration,
            addresses: addresses,
            maker: maker,
            owner: self
        )
        connections[slot] = connection
        connection.open()
        armSweep()
    }

    /// How the pool is doing.
    var statistics: PoolStatistics {
        var statistics = sums
        statistics.loop = loop.index
        state.describe(&statistics)
        return statistics
    }
}

extension LoopPool: ConnectionOwner {
    func connectionOpened(_ connection: Connection) {
        state.connected(connection.slot)
        serveWaiters()
        grow()
    }

    func connectionClosed(_ connection: Connection, reason: String, orphans: [StatementRequest]) {
        failures.note(configuration.advised(reason), isReported: !isClosed)
        if !isClosed { sums.connectionsLost &+= 1 }
        connections[connection.slot] = nil
        guard !isClosed else {
            orphans.forEach { $0.lose() }
            retryKeys()
            return finishDraining()
        }
        let slot = connection.slot
        let delay = backoff.wait(failures: state.lost(slot), random: .random(in: 0..<1))
        loop.schedule(after: delay) { [weak self] in
            guard let self, !self.isClosed else { return }
            self.state.backoffEnded(slot)
            self.open(slot)
        }
        for request in orphans {
            // What was not sent, and reads, may go to another connection; the rest can't be known or is undone.
            let mayRepeat = request.kind == .read || (request.kind == .write && !request.wasSent)
            if mayRepeat && request.failure == nil && request.attempts < configuration.engine.attemptsMax {
                submit(request)
            } else {
                request.lose()
            }
        }
        // Who waited for this one to be opened may have to do with another.
        serveWaiters()
        retryKeys()
    }

    func requestsFinished(_ connection: Connection, count: Int) {
        if connections[connection.slot] === connection {
            state.finished(connection.slot, count: count)
            if state.waiting > 0 { serveWaiters() }
        }
        retryKeys()
        if isClosed { finishDraining() }
    }

    func requestsLeft(_ connection: Connection, _ requests: [StatementRequest]) {
        state.finished(connection.slot, count: requests.count)
        for request in requests where !request.isAnswered {
            if isClosed { request.finish(.failure(.closed)) } else { place(request) }
        }
    }

    func connectionWantsFlush(_ connection: Connection) {
        flush.add(connection)
    }

    func takeKey(_ key: LockKey) -> Bool { lockKeys.take(key) }

    func freeKey(_ key: LockKey) { lockKeys.free(key) }

    /// Rows may have been freed that statements on other connections wait for.
    private func retryKeys() {
        guard lockKeys.takeWanted() else { return }
        for connection in connections { connection?.retryKeys() }
    }

    private func endTurn() {
        sendKeyedReads()
        state.turnEnded()
    }
}
