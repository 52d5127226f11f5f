import RPCTransport

/// A loop's part of a run: decides when its workers begin their next calls, and counts the results.
///
/// States: running → stopped, when its time is over or `stop` is called. When stopped, no more calls begin, and workers end
/// with their current call. Loop thread only.
final class Lane: @unchecked Sendable {
    // Safe because the variables are used only on the loop's thread, where workers run too, and all methods are called there.

    let loop: EventLoop
    private let times: RunTimes
    /// Only in an open loop.
    private var arrivals: ArrivalQueue?
    private var timer: StartTimer?
    private var isStopped = false
    /// Workers of an open loop that wait for a call to become due. The last one to wait gets the next call, so that no more
    /// workers, and their memory, are used than are needed.
    private var idle: [UnsafeContinuation<UInt64?, Never>] = []

    private var statistics = [CallStatistics](repeating: CallStatistics(), count: Operation.allCases.count)
    private var timeline: Timeline
    private var arrivalCounts = RunReport.Arrivals()
    private let round: [Operation]
    private var roundIndex = 0
    /// What workers did beside their calls.
    var side = SideCounts()
    /// The accounts whose sessions the workers use.
    var accounts: AccountPool
    /// Provider tokens for sign-ins.
    var proofs: [ProviderProof]
    /// Phone numbers for profiles.
    var phones: PhoneSequence
    /// The number of profile updates, so that each one sets another name.
    var updateCount = 0

    init(
        loop: EventLoop,
        times: RunTimes,
        arrivals: ArrivalQueue?,
        scenario: Scenario,
        accounts: [Account],
        proofs: [ProviderProof],
        phones: PhoneSequence
    ) {
        self.loop = loop
        self.times = times
        self.arrivals = arrivals
        round = scenario.round
        self.accounts = AccountPool(accounts)
        self.proofs = proofs
        self.phones = phones
        timeline = Timeline(startNanoseconds: times.measureFrom, endNanoseconds: times.end)
    }

    /// Prepares the loop's part. Throws `TransportError` or `LoadError` if the system fails.
    func start() throws {
        loop.preconditionIsCurrent()
        if arrivals != nil { timer = try StartTimer(loop) { [unowned self] in pump() } }
    }

    // MARK: For workers

    /// The start of the worker's next call, from which its latency counts. In a closed loop that is now; in an open loop it is the
    /// intended start, and the worker waits until then. Nil when the run is over.
    func nextStart() async -> UInt64? {
        let now = MonotonicTime.nanoseconds
        guard !isStopped, now < times.end || arrivals != nil else { return nil }
        guard arrivals != nil else { return now }
        if let start = arrivals?.take(nowNanoseconds: now) {
            note(start, now)
            return start
        }
        guard setTimer() else { return nil }
        return await withUnsafeContinuation { idle.append($0) }  // resumed once: by `pump` or `stop`
    }

    /// The operation to call next: all workers of a lane go through one round, so that the mix is exact.
    func nextOperation() -> Operation {
        let operation = round[roundIndex]
        roundIndex = roundIndex + 1 == round.count ? 0 : roundIndex + 1
        return operation
    }

    /// Counts a call that has ended, if it began in the measured time.
    func record(_ operation: Operation, start: UInt64, failure: CallFailure?) {
        guard start >= times.measureFrom else { return }
        let now = MonotonicTime.nanoseconds
        let latency = now - start
        statistics[operation.rawValue].record(latencyNanoseconds: latency, failure: failure)
        timeline.record(latencyNanoseconds: latency, failed: failure != nil, nowNanoseconds: now)
    }

    /// Whether the run is over.
    var isOver: Bool { isStopped || MonotonicTime.nanoseconds >= times.end }

    // MARK: Open loop

    /// Hands due calls to waiting workers.
    private func pump() {
        let now = MonotonicTime.nanoseconds
        while !idle.isEmpty, let start = arrivals?.take(nowNanoseconds: now) {
            note(start, now)
            idle.removeLast().resume(returning: start)
        }
        guard !idle.isEmpty, !setTimer() else { return }
        for worker in idle { worker.resume(returning: nil) }
        idle = []
    }

    /// Sets the timer for the next call; false if there will be none.
    private func setTimer() -> Bool {
        guard !isStopped, let due = arrivals?.nextDueNanoseconds else { return false }
        timer?.set(nanoseconds: due)
        return true
    }

    private func note(_ start: UInt64, _ now: UInt64) {
        guard start >= times.measureFrom, now > start else { return }
        arrivalCounts.delayNanosecondsMax = max(arrivalCounts.delayNanosecondsMax, now - start)
        if now - start > RunReport.lateNanoseconds { arrivalCounts.lateCount += 1 }
    }

    // MARK: The end, and the results

    /// Ends the run early; only calls that end by `now` count.
    func stop(atNanoseconds now: UInt64) {
        loop.preconditionIsCurrent()
        guard !isStopped else { return }
        isStopped = true
        timeline.end(atNanoseconds: now)
        for worker in idle { worker.resume(returning: nil) }
        idle = []
    }

    /// The completed seconds, each once.
    func takeSeconds() -> [SecondRecord] {
        loop.preconditionIsCurrent()
        return timeline.takeFinished(nowNanoseconds: MonotonicTime.nanoseconds)
    }

    /// The counts of a lane.
    struct Result: Sendable {
        let statistics: [CallStatistics]
        let seconds: [SecondRecord]
        let afterEndCount: Int
        let arrivals: RunReport.Arrivals?
        let side: SideCounts
    }

    /// All counts, after the workers have ended.
    func finish() -> Result {
        loop.preconditionIsCurrent()
        timer = nil
        if let arrivals {
            arrivalCounts.droppedCount = arrivals.droppedCount
            arrivalCounts.waitingAtEndCount = arrivals.count
        }
        return Result(
            statistics: statistics,
            seconds: timeline.takeAll(),
            afterEndCount: timeline.afterEndCount,
            arrivals: arrivals == nil ? nil : arrivalCounts,
            side: side
        )
    }
}
