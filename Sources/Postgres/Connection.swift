internal import CLibPQ
import RPC
import RPCTransport

/// Who a connection works for. All calls come on the loop's thread, and none out of a call into the connection but
/// `connectionClosed`.
protocol ConnectionOwner: AnyObject {
    func connectionOpened(_ connection: Connection)
    /// Exactly once. The requests are those that were not answered.
    func connectionClosed(_ connection: Connection, reason: String, orphans: [Request])
    /// So many shared requests are over.
    func requestsFinished(_ connection: Connection, count: Int)
    /// The connection has something to send at the end of the turn.
    func connectionWantsFlush(_ connection: Connection)
    func connectionNotified(_ connection: Connection, channel: String, payload: String)
}

/// One connection to the server, in pipeline mode. One loop's thread only.
///
/// connecting → ready → closed, or connecting → closed. What is sent stands in `inFlight` in the order in which libpq
/// will give results: a statement's preparation, a statement, a Sync.
final class Connection {
    enum Phase { case connecting, ready, closed }

    /// What a result will belong to.
    enum Item {
        case prepare(Statement, Request)
        /// Its statement is the request's.
        case execute(Request)
        case deallocate
        /// With the writes that it commits; none for reads.
        case sync([Request])
    }

    let slot: Int
    let loop: EventLoop
    let connectDeadline: Deadline
    private let configuration: PostgresConfiguration
    /// Held until the connection is closed, as the owner holds the connection: a weak reference would cost several
    /// atomic operations for each statement.
    private var owner: (any ConnectionOwner)?
    private(set) var phase = Phase.connecting
    /// libpq's connection; freed, and nil, once closed.
    private(set) var handle: OpaquePointer?
    private var watch: FileWatch?
    private var wantsWrite = false

    var inFlight = FIFO<Item>()
    /// Placed and not yet sent.
    var batch: [Request] = []
    private var isFlushRequested = false
    /// Transactions of writes that were sent and not confirmed.
    var commitsInFlight = 0
    /// Kept for its memory while `batch` fills again.
    var sending: [Request] = []
    var statements: StatementCache
    /// Whether the first of `inFlight` has had its result and only the NULL after it is missing.
    var hasHeadResult = false
    /// libpq refused to take something: no memory, or a dead connection. The connection is then closed.
    var sendFailed = false
    /// Grows with every result.
    private(set) var progress: UInt64 = 0
    private var sweptProgress: UInt64 = 0
    private var stalledSweeps = 0
    private var sweptStuckHead: Request?
    let readsPerSyncMax: Int
    /// Writes that are committed together: each holds its locks until all are done.
    static let writesPerSyncMax = 32
    let parameters = ParameterScratch()

    init(slot: Int, loop: EventLoop, configuration: PostgresConfiguration, owner: any ConnectionOwner) {
        self.slot = slot
        self.loop = loop
        self.configuration = configuration
        self.owner = owner
        connectDeadline = .after(configuration.connectTimeout)
        readsPerSyncMax = max(1, configuration.readsPerSyncMax)
        statements = StatementCache(statementsMax: configuration.statementsMax)
    }

    deinit {
        if let handle { PQfinish(handle) }
    }

    /// Begins to connect. If it fails at once, `connectionClosed` is called before this returns.
    func open() {
        let parameters = configuration.connectionParameters
        handle = withCStrings(parameters.map(\.keyword)) { keywords in
            withCStrings(parameters.map(\.value)) { values in PQconnectStartParams(keywords, values, 0) }
        }
        guard let handle, PQstatus(handle) != CONNECTION_BAD else { return close(errorMessage) }
        // The default prints notices on standard error.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        watchSocket(.writable)
    }

    /// Ends it and gives back what was not answered. Does nothing if it is closed.
    func close(_ reason: String) {
        guard phase != .closed else { return }
        phase = .closed
        watch?.cancel()
        watch = nil
        if let handle { PQfinish(handle) }
        handle = nil
        var orphans: [Request] = []
        inFlight.forEach { item in
            switch item {
            case .execute(let request):
                if !request.isAnswered { orphans.append(request) }
            case .sync(let writes):
                // They stand here twice, but for those whose statement has had its result.
                let sent = orphans.suffix(writes.count)
                orphans += writes.filter { write in !write.isAnswered && !sent.contains { $0 === write } }
            case .prepare, .deallocate: break
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
    func submit(_ request: Request) {
        request.attempts += 1
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

    /// Nothing is under way or about to be.
    var isIdle: Bool { inFlight.isEmpty && batch.isEmpty }

    /// Answers requests whose deadline has passed. Closes the connection if the very statement that the server is
    /// working on is long over its time; one that only stands behind others is left to come.
    /// Returns how many sweeps in a row have seen no progress.
    func sweep(now: Deadline) -> Int {
        if phase == .connecting {
            if connectDeadline < now { close("connecting took too long") }
            return 0
        }
        for request in batch where request.deadline < now { request.timeOut() }
        inFlight.forEach { item in
            if case .execute(let request) = item, request.deadline < now { request.timeOut() }
        }
        let stuckHead = executing.flatMap { $0.deadline < now ? $0 : nil }
        if let stuckHead, stuckHead === sweptStuckHead {
            close("a statement took too long")
            return 0
        }
        sweptStuckHead = stuckHead
        stalledSweeps = !inFlight.isEmpty && progress == sweptProgress ? stalledSweeps + 1 : 0
        sweptProgress = progress
        return stalledSweeps
    }

    /// Takes off the reads that a slow statement holds up. It is under the first Sync, but which of those there it is
    /// can't be told, since the server sends their results together: if there are several, all of them go.
    func takeHeldUpReads() -> [Request] {
        var firstSync: [Request] = []
        var behind: [Request] = []
        var isFirst = true
        inFlight.forEach { item in
            switch item {
            case .execute(let request):
                if isFirst { firstSync.append(request) } else { behind.append(request) }
            case .sync: isFirst = false
            case .prepare, .deallocate: break
            }
        }
        return ((firstSync.count > 1 ? firstSync : []) + behind)
            .filter { $0.kind == .read && !$0.isAnswered && $0.moves < Request.movesMax }
            .map { $0.movedAway() }
    }

    /// The request that the server is at.
    private var executing: Request? {
        switch inFlight.first {
        case .prepare(_, let request), .execute(let request): request
        case .sync(let writes): writes.first
        case .deallocate, nil: nil
        }
    }

    private func watchSocket(_ interest: FileInterest) {
        guard let handle else { return }
        do {
            watch = try loop.watch(fileDescriptor: PQsocket(handle), interest: interest) { [weak self] _ in
                self?.socketReady()
            }
        } catch {
            close("the socket can't be watched")
        }
    }

    private func socketReady() {
        switch phase {
        case .connecting: continueConnecting()
        case .ready:
            receive()
            if wantsWrite { flushOutput() }
        case .closed: break
        }
    }

    private func continueConnecting() {
        guard let handle else { return }
        // libpq may close the socket inside and open another, perhaps of the same number.
        watch?.cancel()
        watch = nil
        switch PQconnectPoll(handle) {
        case PGRES_POLLING_READING: watchSocket(.readable)
        case PGRES_POLLING_WRITING: watchSocket(.writable)
        case PGRES_POLLING_OK:
            guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else { return close(errorMessage) }
            phase = .ready
            watchSocket(.readable)
            if phase == .ready { owner?.connectionOpened(self) }
        default: close(errorMessage)
        }
    }

    private func receive() {
        guard let handle else { return }
        guard PQconsumeInput(handle) == 1 else { return close(errorMessage) }
        progress &+= 1
        let finished = takeResults()
        if finished > 0 { owner?.requestsFinished(self, count: finished) }
        while phase == .ready, let notification = PQnotifies(handle) {
            let channel = String(cString: notification.pointee.relname)
            let payload = notification.pointee.extra.map { String(cString: $0) } ?? ""
            PQfreemem(notification)
            owner?.connectionNotified(self, channel: channel, payload: payload)
        }
    }

    func finished(_ count: Int) { owner?.requestsFinished(self, count: count) }

    /// Hands libpq's output to the socket; what doesn't fit follows when the socket is writable again.
    func flushOutput() {
        guard phase == .ready, let handle else { return }
        if sendFailed { return close(errorMessage) }
        let outcome = PQflush(handle)
        // libpq may have given the socket up inside; then there is nothing left to watch.
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
    var errorMessage: String {
        guard let handle, let text = PQerrorMessage(handle) else { return "out of memory" }
        return String(cString: text).split(separator: "\n").joined(separator: "; ")
    }
}
