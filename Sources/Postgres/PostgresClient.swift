import RPC
import RPCTransport
import ServiceLifecycle
import Synchronization

/// Runs statements on a PostgreSQL database. Each loop of the group has connections of its own, and code that runs on a loop
/// uses only those. Nothing blocks a loop: names are looked up and connections are made on other threads.
///
/// It may be called from any thread; callers outside of the group's loops are served by the loops in turn. Every wait ends at
/// its deadline, or when its task is cancelled, with a delay of at most some 20 ms. A statement that was sent goes on after
/// its caller was cancelled, because many callers share the connection and none of their statements can be stopped for
/// certain. A transaction has its connection to itself, so the server is asked to stop, and the transaction is rolled back.
///
/// It takes statements from the beginning. As a `Service` it ends with its `ServiceGroup`; `withPostgresClient` ends it with
/// a closure. A client that nobody holds any more, or whose loops end, closes its connections.
public final class PostgresClient: Service {
    /// Where the database is, and every bound.
    public let configuration: PostgresConfiguration
    let group: EventLoopGroup
    /// Nil where nothing is traced.
    private let tracing: StatementTracing?
    let pools: [LoopBound<LoopPool>]
    /// What the server has refused to write.
    public let refusedWrites: RefusedWrites
    private let isRun = Atomic(false)

    /// A client that connects when it is run, or first used.
    public init(_ configuration: PostgresConfiguration, group: EventLoopGroup) {
        self.configuration = configuration
        self.group = group
        tracing = configuration.tracer.map { StatementTracing($0, configuration) }
        let addresses = ServerAddresses(hosts: configuration.hosts, resolver: configuration.resolver)
        let refusedWrites = RefusedWrites()
        self.refusedWrites = refusedWrites
        pools = group.loops.map { loop in
            let pool = LoopPool(
                loop: loop,
                configuration: configuration,
                addresses: addresses,
                refused: refusedWrites
            )
            return LoopBound(pool, loop: loop)
        }
        for pool in pools { pool.loop.execute { pool.loop.closeAtEnd(pool.value) { pool.value.stop() } } }
    }

    deinit {
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

    /// Begins to connect on every loop, and waits for the end. A database that is down is tried again, with pauses.
    ///
    /// A graceful shutdown of its `ServiceGroup` lets the statements and transactions under way finish, as `shutdown` does.
    /// Cancellation closes the connections at once: what is under way fails, and a write's outcome is unknown then. Throws
    /// `TransportError.alreadyRun` the second time.
    public func run() async throws {
        guard !isRun.exchange(true, ordering: .relaxed) else { throw TransportError.alreadyRun }
        for pool in pools { pool.loop.execute { pool.value.start() } }
        try? await gracefulShutdown()
        await withTaskCancellationHandler {
            if !Task.isCancelled { await shutdown() }
        } onCancel: {
            for pool in pools { pool.loop.execute { pool.value.stop() } }
        }
        await stop()
    }

    /// Refuses new statements with `.closed`, waits for those under way, and closes the connections.
    public func shutdown() async {
        for pool in pools {
            await withCheckedContinuation { continuation in
                pool.loop.execute { pool.value.close { continuation.resume() } }
            }
        }
    }

    /// Refuses new statements, and closes the connections at once. What is under way fails.
    func stop() async {
        for pool in pools {
            await withCheckedContinuation { continuation in
                pool.loop.execute {
                    pool.value.stop()
                    continuation.resume()
                }
            }
        }
    }

    /// One round trip to the server: whether it answers.
    public func ping(deadline: Deadline? = nil) async throws(PostgresError) {
        _ = try await query("SELECT 1", deadline: deadline)
    }

    /// Runs a statement that only reads.
    ///
    /// The reads of one loop turn are sent together. A read is sent again if another one's failure or a lost connection took
    /// its answer. A statement whose text has a word that writes or locks is treated as by `execute`. A function that
    /// writes behind the scenes isn't seen: use `execute` for it.
    @discardableResult
    public nonisolated(nonsending) func query(_ query: Query, deadline: Deadline? = nil) async throws(PostgresError)
        -> Rows
    {
        try await submit(query, .read, deadline)
    }

    /// Reads the row with the key; nil if there is none. The row has the columns of the read, and the key as the last one.
    ///
    /// The reads of one loop turn are sent as one statement. Each caller waits until its own deadline at most. It is sent again
    /// as by `query`.
    public nonisolated(nonsending) func row(_ read: KeyedRead, key: ReadKey, deadline: Deadline? = nil)
        async throws(PostgresError) -> Row?
    {
        if Task.isCancelled { throw .cancelled(outcomeUnknown: false) }
        let deadline = deadline ?? .after(configuration.queryTimeout)
        let pool = pool()
        let span = tracing?.start(read.text)
        let result: KeyedBatch.Answer = await withUnsafeContinuation { continuation in
            if pool.loop.isCurrent {
                pool.value.submit(read, key, deadline: deadline, continuation)
            } else {
                pool.loop.execute { pool.value.submit(read, key, deadline: deadline, continuation) }
            }
        }
        span?.end(result)
        return try result.get()
    }

    /// Runs a statement that changes something, in a transaction of its own, and returns when it is committed. It is never
    /// sent again if it may have been done: see `outcomeUnknown` in `PostgresError`.
    @discardableResult
    public nonisolated(nonsending) func execute(_ query: Query, deadline: Deadline? = nil) async throws(PostgresError)
        -> Rows
    {
        try await submit(query, .write, deadline)
    }

    /// Does what `execute` does, but shares the commit with other such writes of one loop turn, so that many cost the disk
    /// little more than one. If one of them fails, the others are undone with it and done again, each alone.
    ///
    /// For short statements that lock one row each, since each holds its lock until all are committed. They are sent in the
    /// order of their keys, so that two commits never wait for each other's rows. If two statements of a loop have the same
    /// key, the second is sent after the first one's commit.
    ///
    /// - Parameter key: of the row.
    @discardableResult
    public nonisolated(nonsending) func executeTogether(_ query: Query, key: LockKey, deadline: Deadline? = nil)
        async throws(PostgresError) -> Rows
    {
        try await submit(query, .write, deadline, lockKey: key)
    }

    /// Runs a closure in a transaction: committed when it returns, undone when it throws or its task was cancelled.
    ///
    /// The transaction has a connection to itself until then. BEGIN travels with the first statement. The deadline, by
    /// default `queryTimeout` from now, is that of the whole, retries and the pauses before them included. Errors of the
    /// closure are rethrown.
    ///
    /// - Parameters:
    ///   - isolation: how much it sees of others.
    ///   - retries: how often the whole closure is run again, after a random pause that doubles up to a quarter of a
    ///     second, when it was undone because another transaction got in its way (`isRetryableConflict`) or the server
    ///     has become a standby.
    ///   - conflict: what else is such a conflict, a violation of a constraint in a race for instance.
    ///   - isLong: whether it may take longer than the engine's transactions do; then nobody may rely on the times of rows that it writes.
    public func withTransaction<R: Sendable>(
        isolation: TransactionIsolation = .readCommitted,
        retries: Int = 0,
        orAfter conflict: @Sendable (PostgresError) -> Bool = { _ in false },
        deadline: Deadline? = nil,
        isLong: Bool = false,
        _ body: @Sendable (PostgresTransaction) async throws -> R
    ) async throws -> R {
        let deadline = deadline ?? .after(configuration.queryTimeout)
        let retries = max(retries, configuration.engine.retriesMin)
        var failures = 0
        while true {
            do {
                let limit = isLong ? nil : configuration.engine.transactionLimit.map { min(deadline, .after($0)) }
                return try await attempt(isolation, limit ?? deadline, body)
            } catch let error as PostgresError {
                let mayHelp = error.isRetryableConflict || error.sqlState == .readOnlyTransaction || conflict(error)
                guard mayHelp, failures < retries else { throw error }
                failures += 1
                guard await pause(failures, until: deadline) else { throw error }
            }
        }
    }

    /// Between the tries of a transaction, so that transactions that met don't meet again.
    private static let conflictPause = Backoff(first: .milliseconds(4), max: .milliseconds(250))

    private func attempt<R: Sendable>(
        _ isolation: TransactionIsolation,
        _ deadline: Deadline,
        _ body: @Sendable (PostgresTransaction) async throws -> R
    ) async throws -> R {
        if Task.isCancelled { throw PostgresError.cancelled(outcomeUnknown: false) }
        let transaction = PostgresTransaction(
            lease: try await lease(deadline),
            begin: configuration.engine.begin(isolation),
            tracing: tracing
        )
        let value: R
        do {
            value = try await body(transaction)
            if Task.isCancelled { throw PostgresError.cancelled(outcomeUnknown: false) }
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
        _ kind: StatementRequest.Kind,
        _ deadline: Deadline?,
        lockKey: LockKey? = nil,
        failures: Int = 0
    ) async throws(PostgresError) -> Rows {
        if Task.isCancelled { throw .cancelled(outcomeUnknown: false) }
        let deadline = deadline ?? .after(configuration.queryTimeout)
        let pool = pool()
        let span = tracing?.start(query.text)
        let result: Result<Rows, PostgresError> = await withUnsafeContinuation { continuation in
            let request = StatementRequest(
                query: query,
                kind: kind,
                deadline: deadline,
                waitDeadline: deadline,
                lockKey: lockKey,
                continuation: continuation
            )
            if pool.loop.isCurrent {
                pool.value.submit(request)
            } else {
                pool.loop.execute { pool.value.submit(request) }
            }
        }
        span?.end(result)
        // The connection has tried it some times at once.
        if case .failure(let error) = result, error.isRetryableConflict, failures < configuration.engine.retriesMin,
            await pause(failures + 1, until: deadline)
        {
            return try await submit(query, kind, deadline, lockKey: lockKey, failures: failures + 1)
        }
        return try result.get()
    }

    /// Waits before another try; false if the deadline is sooner.
    private nonisolated(nonsending) func pause(_ failures: Int, until deadline: Deadline) async -> Bool {
        let pause = Self.conflictPause.wait(failures: failures, random: .random(in: 0..<1))
        guard pause < deadline.remaining else { return false }
        // Cut short in a task that was cancelled, which the next attempt notices.
        try? await Task.sleep(for: pause)
        return true
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

/// Runs a closure with a client. When the closure returns, the statements under way may finish (`PostgresClient.shutdown`);
/// when it throws or its task was cancelled, the connections are closed at once. Throws what the closure throws.
public nonisolated(nonsending) func withPostgresClient<Result>(
    _ configuration: PostgresConfiguration,
    group: EventLoopGroup,
    _ body: (PostgresClient) async throws -> Result
) async throws -> Result {
    let client = PostgresClient(configuration, group: group)
    do {
        let result = try await body(client)
        if !Task.isCancelled { await client.shutdown() }
        await client.stop()
        return result
    } catch {
        await client.stop()
        throw error
    }
}

/// Keeps a pool until its loop has cleared it.
private final class ClientRemains {
    let pool: LoopBound<LoopPool>
    init(_ pool: LoopBound<LoopPool>) { self.pool = pool }
}
