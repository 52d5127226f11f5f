import RPC
import RPCTransport
import Synchronization

/// The way to the database for everything on a group of event loops: each loop has connections of its own, and a call
/// that runs on a loop uses only those.
///
/// Calls may come from any thread; one that is not a loop of the group is served by the loops in turn. Every wait ends
/// by its deadline, within some 20 ms. Call `shutdown` before the group's.
public final class PostgresClient: Sendable {
    /// Where the database is, and every bound.
    public let configuration: PostgresConfiguration
    private let group: EventLoopGroup
    let pools: [LoopBound<LoopPool>]
    private let listeners = Mutex<[PostgresListener]>([])

    /// A client that connects when it is started, or first used.
    public init(_ configuration: PostgresConfiguration, group: EventLoopGroup) {
        self.configuration = configuration
        self.group = group
        pools = group.loops.map { LoopBound(LoopPool(loop: $0, configuration: configuration), loop: $0) }
        for pool in pools { pool.loop.execute { pool.loop.closeAtEnd(pool.value) { pool.value.endWithLoop() } } }
    }

    deinit {
        for listener in listeners.withLock({ $0 }) { listener.cancel() }
        for pool in pools {
            // What the pool holds belongs to the loop's thread, or to who stands in for it.
            let kept = Unmanaged.passRetained(ClientRemains(pool))
            let remains = UInt(bitPattern: kept.toOpaque())
            pool.loop.execute {
                guard let pointer = UnsafeRawPointer(bitPattern: remains) else { return }
                let remains = Unmanaged<ClientRemains>.fromOpaque(pointer)
                remains.takeUnretainedValue().pool.value.abandon()
                remains.release()
            }
        }
    }

    /// Begins to connect on every loop. Never fails: a database that is down is tried again, with pauses.
    public func start() {
        for pool in pools { pool.loop.execute { pool.value.start() } }
    }

    /// Starts, and shuts down when the task is cancelled.
    public func run() async {
        start()
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        continuation.finish()
        await shutdown()
    }

    /// Refuses new statements with `.closed`, waits for those under way, and closes the connections.
    public func shutdown() async {
        for listener in listeners.withLock({ $0 }) { listener.cancel() }
        for pool in pools {
            await withCheckedContinuation { continuation in
                pool.loop.execute { pool.value.close { continuation.resume() } }
            }
        }
    }

    /// One round trip to the server: whether it answers.
    public func ping(deadline: Deadline? = nil) async throws(PostgresError) {
        _ = try await query("SELECT 1", deadline: deadline)
    }

    /// Runs a statement that only reads.
    ///
    /// Reads of one loop turn travel together, and are asked again if a neighbour's failure or a lost connection took
    /// their answer. A statement in whose text a writing or locking word occurs is treated as `execute` does; a
    /// function that writes behind the scenes isn't seen: use `execute` for it.
    @discardableResult
    public nonisolated(nonsending) func query(_ query: Query, deadline: Deadline? = nil) async throws(PostgresError)
        -> Rows
    {
        try await submit(query, .read, deadline)
    }

    /// Reads the row that has the key; nil if there is none. Its columns are those of the read, and behind them the key.
    ///
    /// Reads of one loop turn travel as one statement, in which none waits longer than until its own deadline. It is
    /// asked again like any read.
    public nonisolated(nonsending) func row(_ read: KeyedRead, key: ReadKey, deadline: Deadline? = nil)
        async throws(PostgresError) -> Row?
    {
        if Task.isCancelled { throw .cancelled }
        let deadline = deadline ?? .after(configuration.queryTimeout)
        let pool = pool()
        return try await withUnsafeContinuation { continuation in
            if pool.loop.isCurrent {
                pool.value.submit(read, key, deadline: deadline, continuation)
            } else {
                pool.loop.execute { pool.value.submit(read, key, deadline: deadline, continuation) }
            }
        }.get()
    }

    /// Runs a statement that changes something, in a transaction of its own. Returns once it is committed. It is never
    /// sent twice if it may have been done: see `PostgresError`'s `outcomeUnknown`.
    @discardableResult
    public nonisolated(nonsending) func execute(_ query: Query, deadline: Deadline? = nil) async throws(PostgresError)
        -> Rows
    {
        try await submit(query, .write, deadline)
    }

    /// Does what `execute` does, but shares the commit with other such writes of one loop turn, so that many cost the disk
    /// little more than one. If one of them fails, the others are undone with it and done again, each alone.
    ///
    /// For short statements that lock a row by its key: each holds its locks until all are committed. Two that lock the same
    /// rows crosswise end in a deadlock that the server breaks after a second; they are done again as well.
    @discardableResult
    public nonisolated(nonsending) func executeTogether(_ query: Query, deadline: Deadline? = nil)
        async throws(PostgresError) -> Rows
    {
        try await submit(query, .write, deadline, mayShareCommit: true)
    }

    /// Runs a closure in a transaction: committed when it returns, undone when it throws or its task was cancelled.
    ///
    /// The transaction has a connection to itself until then. BEGIN travels with the first statement. `retries` says
    /// how often the whole closure is run again after another transaction got in its way (40001, 40P01). The deadline,
    /// by default `queryTimeout` from now, is that of the whole, retries included. Errors of the closure are rethrown.
    public func withTransaction<R: Sendable>(
        isolation: TransactionIsolation = .readCommitted,
        retries: Int = 0,
        deadline: Deadline? = nil,
        _ body: @Sendable (PostgresTransaction) async throws -> R
    ) async throws -> R {
        let deadline = deadline ?? .after(configuration.queryTimeout)
        var retriesLeft = retries
        while true {
            do {
                return try await attempt(isolation, deadline, body)
            } catch let error as PostgresError {
                guard error.isRetryableConflict, retriesLeft > 0, !deadline.hasPassed else { throw error }
                retriesLeft -= 1
            }
        }
    }

    /// Calls a closure with each notification on a channel, and with an empty one after every time that listening has
    /// begun (again), since what was sent meanwhile is lost. On the group's first loop; the closure must not block.
    @discardableResult
    public func listen(
        _ channel: String,
        onNotify: @escaping @Sendable (_ payload: String) -> Void
    ) -> PostgresListener {
        let listener = PostgresListener(
            channel: channel,
            configuration: configuration,
            loop: group.loops[0],
            onNotify: onNotify
        )
        listeners.withLock { listeners in
            listeners.removeAll { $0.isCancelled }
            listeners.append(listener)
        }
        listener.start()
        return listener
    }

    private func attempt<R: Sendable>(
        _ isolation: TransactionIsolation,
        _ deadline: Deadline,
        _ body: @Sendable (PostgresTransaction) async throws -> R
    ) async throws -> R {
        if Task.isCancelled { throw PostgresError.cancelled }
        let transaction = PostgresTransaction(lease: try await lease(deadline), begin: isolation.begin)
        let value: R
        do {
            value = try await body(transaction)
            if Task.isCancelled { throw PostgresError.cancelled }
        } catch {
            await transaction.rollback()
            throw error
        }
        try await transaction.commit()
        return value
    }

    private func pool() -> LoopBound<LoopPool> { pools[group.next().index] }

    private nonisolated(nonsending) func submit(
        _ query: Query,
        _ kind: Request.Kind,
        _ deadline: Deadline?,
        mayShareCommit: Bool = false
    ) async throws(PostgresError) -> Rows {
        if Task.isCancelled { throw .cancelled }
        let deadline = deadline ?? .after(configuration.queryTimeout)
        let pool = pool()
        return try await withUnsafeContinuation { continuation in
            let request = Request(
                query: query,
                kind: kind,
                deadline: deadline,
                waitDeadline: deadline,
                mayShareCommit: mayShareCommit,
                continuation: continuation
            )
            if pool.loop.isCurrent {
                pool.value.submit(request)
            } else {
                pool.loop.execute { pool.value.submit(request) }
            }
        }.get()
    }

    private func lease(_ deadline: Deadline) async throws(PostgresError) -> Lease {
        let pool = pool()
        let waitDeadline = min(deadline, .after(configuration.waitLimit))
        return try await withUnsafeContinuation { continuation in
            let request = LeaseRequest(deadline: deadline, waitDeadline: waitDeadline, continuation: continuation)
            if pool.loop.isCurrent {
                pool.value.submit(request)
            } else {
                pool.loop.execute { pool.value.submit(request) }
            }
        }.get()
    }
}

/// Keeps a pool until its loop has cleared it.
private final class ClientRemains {
    let pool: LoopBound<LoopPool>
    init(_ pool: LoopBound<LoopPool>) { self.pool = pool }
}
