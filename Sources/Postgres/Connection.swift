internal import CLibPQ
import Glibc
import RPC
import RPCTransport

/// One connection to the server, in pipeline mode. One loop's thread only.
///
/// connecting → ready → closed, or connecting → closed. What is sent stands in `inFlight` in the order in which libpq
/// will give results: a statement's preparation, a statement, a Sync.
final class Connection {
    enum Phase { case connecting, ready, closed }

    /// What a result will belong to.
    enum Item {
        case prepare(Statement, StatementRequest)
        /// Its statement is the request's.
        case execute(StatementRequest)
        /// A statement of the connection's own: DEALLOCATE, or the settings of the transaction that follows.
        case housekeeping
        /// With the writes that it commits; none for reads.
        case sync([StatementRequest])
    }

    let slot: Int
    let loop: EventLoop
    private var connectDeadline: Deadline
    private let configuration: PostgresConfiguration
    private let addresses: ServerAddresses
    private let maker: ConnectionMaker
    private let attempt = ConnectionMaker.Attempt()
    /// The question about the servers' names that isn't answered yet.
    private var question: UInt64?
    /// Held until the connection is closed, as the owner holds the connection: a weak reference would cost several
    /// atomic operations for each statement.
    private(set) var owner: (any ConnectionOwner)?
    private(set) var phase = Phase.connecting
    /// libpq's connection: nil until it is made, freed, and nil, once closed.
    private(set) var handle: OpaquePointer?
    private var watch: FileWatch?
    /// What is watched in place of libpq's socket: a descriptor of ours for the same. libpq closes its own when the connection
    /// breaks, before the watch can end; while a child that is just being started holds a copy of it, the kernel would go
    /// on telling of a watch that has been freed. -1 if there is none.
    private var watchedDescriptor: Int32 = -1
    private var wantsWrite = false
    private var isMaking = false

    var inFlight = FIFO<Item>()
    /// Placed and not yet sent.
    var batch: [StatementRequest] = []
    private var isFlushRequested = false
    /// Transactions of writes that were sent and not confirmed.
    var commitsInFlight = 0
    /// Kept for its memory while `batch` fills again.
    var sending: [StatementRequest] = []
    var statements: StatementCache
    /// Whether the first of `inFlight` has had its result and only the NULL after it is missing.
    var hasHeadResult = false
    /// libpq refused to take something: no memory, or a dead connection. The connection is then closed.
    var sendFailed = false
    /// Grows with every result.
    private(set) var progress: UInt64 = 0
    private var sweptProgress: UInt64 = 0
    private var stalledSweeps = 0
    private var sweptStuckHead: StatementRequest?
    /// The server takes no writes: the connection is closed as soon as what was sent is answered, and takes nothing new.
    var isLeaving = false
    /// Whether it belongs to a transaction, and takes no other requests.
    var isLeased = false
    /// The server is being asked to end the statement, so it need not be ended by closing the connection.
    var isBeingCancelled = false
    /// Called for what others notify this session of, in one call for all that came together. Nil but for a listener's.
    var whenNotified: (() -> Void)?
    let readsPerSyncMax: Int
    /// What each transaction must begin with, where no settings of the session can be kept.
    let localSettings: Query?
    let pooler: PostgresPooler
    /// How often a statement is sent at most.
    let attemptsMax: Int
    let conflicts: InjectedConflicts
    /// Writes that are committed together: each holds its locks until all are done.
    static let writesPerSyncMax = 32
    let parameters = ParameterScratch()

    init(
        slot: Int,
        loop: EventLoop,
        configuration: PostgresConfiguration,
        addresses: ServerAddresses,
        maker: ConnectionMaker,
        owner: any ConnectionOwner
    ) {
        self.slot = slot
        self.loop = loop
        self.configuration = configuration
        self.addresses = addresses
        self.maker = maker
        self.owner = owner
        connectDeadline = .after(configuration.connectTimeout)
        readsPerSyncMax = max(1, configuration.readsPerSyncMax)
        pooler = configuration.pooler
        attemptsMax = configuration.engine.attemptsMax
        conflicts = InjectedConflicts(part: configuration.injectedConflicts)
        localSettings = pooler == .transaction ? Query(unsafeSQL: configuration.settingsStatement(isLocal: true)) : nil
        statements = StatementCache(statementsMax: configuration.statementsMax, naming: StatementNaming(pooler))
    }

    deinit {
        endWatch()
        if let handle { PQfinish(handle) }
    }

    /// Begins to connect: looks the servers' names up, and has the connection made, both away from the loop.
    func open() {
        guard addresses.hasNames else { return make() }
        let me = LoopBound(Weak(connection: self), loop: loop)
        question = addresses.ask { [loop] in loop.execute { me.value.connection?.make() } }
        // Who has been answered once need not wait for a resolver that hangs.
        loop.schedule(after: Self.lookUpLimit) { [weak self] in
            guard let self, !self.addresses.servers.isEmpty else { return }
            self.make()
        }
    }

    /// How long a new look-up is waited for where an older one had an answer.
    private static let lookUpLimit: Duration = .seconds(1)

    /// The addresses are known, or nobody knows them.
    private func make() {
        guard phase == .connecting, !isMaking else { return }
        isMaking = true
        forgetQuestion()
        let servers = addresses.servers
        guard !servers.isEmpty else { return close("the database's name has no address") }
        let seconds = configuration.connectSeconds(servers: servers.count)
        // The last of many servers must get its time too.
        connectDeadline = max(connectDeadline, .after(.seconds(seconds * Int64(servers.count))))
        let me = LoopBound(Weak(connection: self), loop: loop)
        maker.open(
            configuration.connectionParameters(servers: servers) + [("connect_timeout", "\(seconds)")],
            SessionSetup(configuration, seconds: seconds),
            for: attempt,
            on: loop
        ) { outcome in
            if let connection = me.value.connection { return connection.made(outcome) }
            if case .opened(let pointer) = outcome, let handle = OpaquePointer(bitPattern: pointer) { PQfinish(handle) }
        }
    }

    private func made(_ outcome: ConnectionMaker.Outcome) {
        switch outcome {
        case .failed(let reason): close(reason)
        case .opened(let pointer):
            guard phase == .connecting else { return PQfinish(OpaquePointer(bitPattern: pointer)) }
            handle = OpaquePointer(bitPattern: pointer)
            phase = .ready
            watchSocket()
            if phase == .ready { owner?.connectionOpened(self) }
        }
    }

    private func forgetQuestion() {
        if let question { addresses.forget(question) }
        question = nil
    }

    /// For what comes back to the loop after the connection may be gone.
    private struct Weak { weak var connection: Connection? }

    /// Ends it and gives back what was not answered. Does nothing if it is closed.
    func close(_ reason: String) {
        guard phase != .closed else { return }
        phase = .closed
        attempt.giveUp()
        forgetQuestion()
        endWatch()
        // Does not wait: the connection doesn't block, and what the socket has no room for is dropped.
        if let handle { PQfinish(handle) }
        handle = nil
        var orphans: [StatementRequest] = []
        inFlight.forEach { item in
            switch item {
            case .execute(let request):
                freeKey(request)
                if !request.isAnswered { orphans.append(request) }
            case .sync(let writes):
                writes.forEach(freeKey)
                // They stand here twice, but for those whose statement has had its result.
                let sent = orphans.suffix(writes.count)
                orphans += writes.filter { write in !write.isAnswered && !sent.contains { $0 === write } }
            case .prepare, .housekeeping: break
            }
        }
        orphans += batch.filter { !$0.isAnswered }
        inFlight = FIFO()
        batch = []
        let owner = owner
        self.owner = nil
        owner?.connectionClosed(self, reason: reason, orphans: orphans)
    }

    /// Takes a request; it is sent when the owner's turn ends.
    func submit(_ request: StatementRequest) {
        if !isLeaving { request.attempts += 1 }
        request.wasSent = false
        batch.append(request)
        requestFlush()
    }

    /// Has what is placed sent at the end of the turn.
    func requestFlush() {
        if isFlushRequested { return }
        isFlushRequested = true
        owner?.connectionWantsFlush(self)
    }

    /// What is placed since the last time, in `sending`.
    func takeBatch() {
        isFlushRequested = false
        swap(&batch, &sending)
    }

    /// A statement was sent that has no result yet. A Sync alone, behind a failure whose words came first, is none.
    var hasStatement: Bool {
        var results = 0
        inFlight.forEach { if case .execute = $0 { results += 1 } }
        if hasHeadResult, case .execute = inFlight.first { results -= 1 }
        return results > 0
    }

    /// Nothing is under way or about to be.
    var isIdle: Bool { inFlight.isEmpty && batch.isEmpty }

    /// Answers requests whose deadline has passed or whose task was cancelled. Closes the connection if the very statement
    /// that the server is working on is long over its time; one that only stands behind others is left to come.
    /// Returns how many sweeps in a row have seen no progress.
    func sweep(now: Deadline) -> Int {
        if phase == .connecting {
            if connectDeadline < now {
                close(isMaking ? "connecting took too long" : "looking up the database's name took too long")
            }
            return 0
        }
        for request in batch { request.giveUp(now) }
        inFlight.forEach { item in
            if case .execute(let request) = item { request.giveUp(now) }
        }
        let stuckHead = executing.flatMap { $0.deadline < now ? $0 : nil }
        if let stuckHead, stuckHead === sweptStuckHead, !isBeingCancelled {
            close("a statement took too long")
            return 0
        }
        sweptStuckHead = stuckHead
        stalledSweeps = !inFlight.isEmpty && progress == sweptProgress ? stalledSweeps + 1 : 0
        sweptProgress = progress
        return stalledSweeps
    }

    /// The request that the server is at.
    private var executing: StatementRequest? {
        switch inFlight.first {
        case .prepare(_, let request), .execute(let request): request
        case .sync(let writes): writes.first
        case .housekeeping, nil: nil
        }
    }

    private func watchSocket() {
        guard let handle else { return }
        do {
            watchedDescriptor = fcntl(PQsocket(handle), F_DUPFD_CLOEXEC, 0)
            guard watchedDescriptor >= 0 else { return close("there is no descriptor left to watch the socket") }
            watch = try loop.watch(fileDescriptor: watchedDescriptor, interest: .readable) { [weak self] _ in
                guard let self, self.phase == .ready else { return }
                self.receive()
                if self.wantsWrite { self.flushOutput() }
            }
        } catch {
            close("the socket can't be watched")
        }
    }

    private func endWatch() {
        watch?.cancel()
        watch = nil
        if watchedDescriptor >= 0 { _ = Glibc.close(watchedDescriptor) }  // `close` is the connection's
        watchedDescriptor = -1
    }

    private func receive() {
        guard let handle else { return }
        guard PQconsumeInput(handle) == 1 else { return close(errorMessage) }
        progress &+= 1
        let finished = takeResults()
        if whenNotified != nil { takeNotifications() }
        // A Sync that arrives behind its answers finishes no request, but the owner may wait for a connection without work.
        if finished > 0 || isIdle { owner?.requestsFinished(self, count: finished) }
        // What was not sent goes with it to where writes are taken.
        if isLeaving, phase == .ready, inFlight.isEmpty { close("the server takes no writes any more") }
    }

    func finished(_ count: Int) { owner?.requestsFinished(self, count: count) }

    /// Reserves the row that a write locks, until `freeKey`.
    func takeKey(_ request: StatementRequest) -> Bool {
        guard let key = request.lockKey, let owner else { return true }
        request.holdsKey = owner.takeKey(key)
        return request.holdsKey
    }

    /// A write is committed, undone or not sent: the next on its row may go.
    func freeKey(_ request: StatementRequest) {
        guard request.holdsKey, let key = request.lockKey else { return }
        request.holdsKey = false
        owner?.freeKey(key)
    }

    /// Sends what waited for a row, if it still does.
    func retryKeys() {
        if phase == .ready, !batch.isEmpty, commitsInFlight == 0 { requestFlush() }
    }

    /// Hands libpq's output to the socket; what doesn't fit follows when the socket is writable again.
    func flushOutput() {
        guard phase == .ready, let handle else { return }
        if sendFailed { return close(errorMessage) }
        let outcome = PQflush(handle)
        // libpq may have given the socket up inside; then nothing comes any more.
        guard PQstatus(handle) == CONNECTION_OK, PQsocket(handle) >= 0 else { return close(errorMessage) }
        switch outcome {
        case 0:
            if wantsWrite { watch?.setInterest(.readable) }
            wantsWrite = false
        case 1:
            if !wantsWrite { watch?.setInterest([.readable, .writable]) }
            wantsWrite = true
        default: close(errorMessage)
        }
    }

    /// libpq's last words, in one line.
    var errorMessage: String { handle?.errorMessage ?? "out of memory" }
}
