import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import Postgres
import RPC
import Synchronization

/// The exchanges of one provider's codes that are under way, and the callers that wait for them.
///
/// A code goes to the provider once. A caller with the same grant waits for the same answer while it is exchanged: on this replica
/// by a continuation, on another by polling the claimed row. An exchange that has begun goes on when its caller leaves, since the
/// code may be spent by then: its result is kept, sealed under the grant, for the next try.
///
/// The steps of an exchange: the row is claimed for ``lease`` → the provider is asked → its tokens, or its refusal of the code, are
/// kept. If the code may still be good, the claim is released instead. If the process ends in between, the lease runs out.
///
/// Any thread. ``run()`` performs the exchanges.
final class CodeExchangeQueue: Sendable {
    /// The maximum of callers that wait for one code.
    static let waitersByCodeMax = 64
    /// The maximum of callers that wait for any code.
    static let waitersMax = 1_024
    /// How long a code is claimed: longer than the provider and the statements around it may take.
    static let lease: Duration = .seconds(8)
    /// How long an exchange waits for another replica's: until that replica's lease is surely over.
    static let patience: Duration = .seconds(9)
    /// The shortest and the longest pause between two reads of another replica's claim.
    static let pauses: ClosedRange<Duration> = .milliseconds(50)...(.milliseconds(400))
    /// How long a statement may take.
    static let statementLimit: Duration = .seconds(2)
    /// How long before its deadline a caller gets the error that there is no answer yet, so that the error arrives in time.
    static let answerMargin: Duration = .milliseconds(100)
    /// How long a caller can get the result of an exchange again, in milliseconds: as long as Apple's codes live.
    static let resultMilliseconds: Int64 = 300_000
    /// How long a provider's refusal of a code is kept, in milliseconds.
    static let refusalMilliseconds: Int64 = 60_000

    private typealias Outcome = Result<ExchangedTokens, any Error>
    private typealias Waiter = CheckedContinuation<Outcome, Never>

    private struct Job {
        let grant: CodeGrant
        let hash: [UInt8]
        let pass: ProviderGate.Pass
    }

    private struct State {
        /// The waiting callers, by the hashes of their grants and their numbers. Empty for an exchange whose callers left.
        var waiters: [[UInt8]: [UInt64: Waiter]] = [:]
        var waiterCount = 0
        var nextWaiter: UInt64 = 0
        /// Whether exchanges have ended: the service is stopping.
        var isStopped = false
    }

    private let endpoint: TokenEndpoint
    private let store: IdentityStore
    private let gate: ProviderGate
    private let log: QuestionLog
    private let clock: WallClock
    private let randomBytes: @Sendable (Int) -> [UInt8]
    private let state = Mutex(State())
    private let jobs: AsyncStream<Job>
    private let addJob: AsyncStream<Job>.Continuation

    /// An empty queue.
    init(
        endpoint: TokenEndpoint,
        store: IdentityStore,
        log: QuestionLog,
        clock: WallClock,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.endpoint = endpoint
        self.store = store
        self.log = log
        self.clock = clock
        self.randomBytes = randomBytes
        gate = ProviderGate(clock: clock)
        // Never full: each job has a pass of the gate.
        (jobs, addJob) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(ExchangeAdmission.concurrentMax))
    }

    /// Performs exchanges until the task is cancelled; then all waiting callers get an error.
    func run() async {
        await withDiscardingTaskGroup { tasks in
            for await job in jobs {
                tasks.addTask { await self.perform(job) }
            }
            for waiter in self.stop() { waiter.resume(returning: .failure(IdentityError.providerUnavailable)) }
        }
    }

    /// The tokens that the provider gives for a grant, or gave for it not long ago.
    ///
    /// - Parameters:
    ///   - address: a code of the address that the grant comes from; nil if that isn't known.
    ///   - deadline: the call's; shortly before it the caller gets the error that the provider can't be reached, while the exchange
    ///     goes on.
    /// - Throws: `IdentityError`, or what the database throws.
    func tokens(for grant: CodeGrant, address: [UInt8]?, deadline: Deadline?) async throws -> ExchangedTokens {
        guard let deadline, deadline != .never else { return try await join(grant, address: address).get() }
        let left = deadline.remaining - Self.answerMargin
        guard left > .zero else { throw IdentityError.providerUnavailable }
        let outcome = await withTaskGroup(of: Outcome.self) { group in
            group.addTask { await self.join(grant, address: address) }
            group.addTask {
                try? await Task.sleep(for: left)
                return .failure(IdentityError.providerUnavailable)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(CancellationError())
        }
        try Task.checkCancellation()
        return try outcome.get()
    }

    // MARK: Waiting

    private func join(_ grant: CodeGrant, address: [UInt8]?) async -> Outcome {
        let hash = grant.hash
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                switch enter(waiter, id, grant, hash, address) {
                case .success(nil): break
                case .success(let job?): addJob.yield(job)
                case .failure(let error): waiter.resume(returning: .failure(error))
                }
            }
        } onCancel: {
            leave(id, hash)?.resume(returning: .failure(CancellationError()))
        }
    }

    /// Adds a waiting caller. Returns the exchange that must begin for it, if it is the first; an error if it may not wait.
    private func enter(
        _ waiter: Waiter,
        _ id: UInt64,
        _ grant: CodeGrant,
        _ hash: [UInt8],
        _ address: [UInt8]?
    ) -> Result<Job?, any Error> {
        state.withLock { state in
            if Task.isCancelled { return .failure(CancellationError()) }
            let others = state.waiters[hash]
            guard !state.isStopped, state.waiterCount < Self.waitersMax, others?.count ?? 0 < Self.waitersByCodeMax
            else {
                return .failure(IdentityError.providerUnavailable)
            }
            var job: Job?
            if others == nil {
                do {
                    let pass = try gate.pass(client: grant.clientID, address: address)
                    job = Job(grant: grant, hash: hash, pass: pass)
                } catch {
                    log.tell(.shed, client: grant.clientID)
                    return .failure(error)
                }
            }
            state.waiters[hash, default: [:]][id] = waiter
            state.waiterCount += 1
            return .success(job)
        }
    }

    private func leave(_ id: UInt64, _ hash: [UInt8]) -> Waiter? {
        state.withLock { state in
            guard let waiter = state.waiters[hash]?.removeValue(forKey: id) else { return nil }
            state.waiterCount -= 1
            return waiter
        }
    }

    private func stop() -> [Waiter] {
        state.withLock { state in
            state.isStopped = true
            state.waiterCount = 0
            defer { state.waiters = [:] }
            return state.waiters.values.flatMap(\.values)
        }
    }

    // MARK: Exchanging

    private func perform(_ job: Job) async {
        let (outcome, wasRefused) = await outcome(of: job)
        job.pass.end(wasRefused: wasRefused)
        let waiters = state.withLock { state in
            let waiters = state.waiters.removeValue(forKey: job.hash) ?? [:]
            state.waiterCount -= waiters.count
            return waiters.values
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    private func outcome(of job: Job) async -> (Outcome, wasRefused: Bool) {
        guard let claimID = PostgresUUID(bytes: randomBytes(16)) else { preconditionFailure("16 bytes were asked for") }
        do {
            switch try await claim(job, claimID) {
            case .claimed: return await ask(job, claimID)
            case .exchanged(let content, let atMilliseconds):
                log.tell(.repeated, client: job.grant.clientID)
                let kept = job.grant.open(content)
                guard let kept, !kept.isEmpty, clock.nowMilliseconds < atMilliseconds + Self.resultMilliseconds
                else {
                    return (.failure(IdentityError.signIn(.codeSpent)), kept?.isEmpty ?? false)
                }
                return (.success(ExchangedTokens(parsing: kept)), false)
            case .held:
                log.tell(.unanswered, client: job.grant.clientID, cause: "another replica holds the claim")
                return (.failure(IdentityError.providerUnavailable), false)
            }
        } catch {
            log.tell(.failed, client: job.grant.clientID, cause: "\(error)")
            return (.failure(Task.isCancelled ? IdentityError.providerUnavailable : error), false)
        }
    }

    /// Claims the code, or waits for the result of the replica that holds the claim.
    private func claim(_ job: Job, _ claimID: PostgresUUID) async throws -> CodeClaim {
        let end = ContinuousClock.now + Self.patience
        var pause = Self.pauses.lowerBound
        while true {
            let claim = try await store.claimCode(
                job.hash,
                claimID: claimID,
                lease: Self.lease,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: .after(Self.statementLimit)
            )
            guard claim == .held, ContinuousClock.now < end else { return claim }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, Self.pauses.upperBound)
        }
    }

    private func ask(_ job: Job, _ claimID: PostgresUUID) async -> (Outcome, wasRefused: Bool) {
        let client = job.grant.clientID
        let fault: IdentityError
        switch await endpoint.exchange(job.grant) {
        case .answered(.exchanged(let tokens)):
            log.tell(.told, client: client)
            await keep(tokens.bytes, of: job, claimID, forMilliseconds: IdentityStore.codeKeptMilliseconds)
            return (.success(tokens), false)
        case .answered(.refused(let error)):
            log.tell(.refused, client: client, cause: error)
            await keep([], of: job, claimID, forMilliseconds: Self.refusalMilliseconds)
            return (.failure(IdentityError.signIn(.codeSpent)), true)
        case .answered(.notConfigured(let error)):
            log.tell(.notConfigured, client: client, cause: error)
            fault = .signIn(.exchangeNotConfigured)
        case .answered(.unavailable):
            log.tell(.unavailable, client: client)
            fault = .providerUnavailable
        case .answered(.unreadable):
            log.tell(.unreadable, client: client)
            fault = .providerUnavailable
        case .unanswered(let error):
            log.tell(ExchangeMetrics.Outcome(error), client: client, cause: error.description)
            fault = .providerUnavailable
        }
        // The next try may find the code good still. If this fails the lease ends by itself.
        try? await store.releaseCode(job.hash, claimID: claimID, deadline: .after(Self.statementLimit))
        return (.failure(fault), false)
    }

    /// Keeps the result of an exchange; empty content stands for a refused code. If the database fails, the waiting callers still
    /// get their answer, but a retry doesn't.
    private func keep(_ content: [UInt8], of job: Job, _ claimID: PostgresUUID, forMilliseconds: Int64) async {
        do {
            try await store.keepExchange(
                job.hash,
                claimID: claimID,
                content: job.grant.seal(content),
                nowMilliseconds: clock.nowMilliseconds,
                keptMilliseconds: forMilliseconds,
                deadline: .after(Self.statementLimit)
            )
        } catch {
            log.tell(.failed, client: job.grant.clientID, cause: "not kept: \(error)")
        }
    }
}
