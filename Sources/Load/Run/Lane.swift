import RPCTransport

/// A loop's part of a run: says to its workers when to begin the next call, and counts what came of it.
///
/// States: running → stopped, when its time is over or it is told so. Stopped, it gives out no start, and workers end
/// when their call has ended. Loop thread only.
final class Lane: @unchecked Sendable {
    // Sound because everything but the constants is touched on the loop's thread only, where workers run too, and each
    // method that others call is called there.

    let loop: EventLoop
    private let times: RunTimes
    /// Of an open loop.
    private var arrivals: ArrivalQueue?
    private var timer: StartTimer?
    private var isStopped = false
    /// Workers of an open loop that wait for a call to become due. The last to come is the first to go, so that no more
    /// workers, and their memory, are used than are needed.
    private var idle: [UnsafeContinuation<UInt64?, Never>] = []

    private var statistics = [CallStatistics](repeating: CallStatistics(), count: Operation.allCases.count)
    private var timeline: Timeline
    private var arrivalCounts = RunReport.Arrivals()
    private let round: [Operation]
    private var roundIndex = 0
    /// What workers did beside their calls.
    var side = SideCounts()
    /// The sessions that workers call with.
    var accounts: AccountPool
    /// Provider tokens for sign-ins.
    var proofs: [ProviderProof]
    /// Numbers that profiles take.
    var phones: PhoneSequence
    /// Profiles that were changed, so that each change is one.
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

    /// Prepares what belongs to the loop. Throws `TransportError` or `LoadError` if the system refuses.
    func start() throws {
        loop.preconditionIsCurrent()
        if arrivals != nil { timer = try StartTimer(loop) { [unowned self] in pump() } }
    }

    // MARK: What workers ask

    /// When the worker's next call counts as begun: now in a closed loop; in an open one when it was to begin, and the
    /// worker waits until then. Nil when the run is over.
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

    /// What to call next: all workers of a lane go through one round, so that the mix is exact.
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

    /// Gives the calls that are due to workers that wait.
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

    /// Wakes this lane when the next call is due; false if there will be none.
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

    // MARK: The end, and what is known

    /// Ends the run before its time; nothing counts as measured that ends after `now`.
    func stop(atNanoseconds now: UInt64) {
        loop.preconditionIsCurrent()
        guard !isStopped else { return }
        isStopped = true
        timeline.end(atNanoseconds: now)
        for worker in idle { worker.resume(returning: nil) }
        idle = []
    }

    /// The seconds that are over, each once.
    func takeSeconds() -> [SecondRecord] {
        loop.preconditionIsCurrent()
        return timeline.takeFinished(nowNanoseconds: MonotonicTime.nanoseconds)
    }

    /// What a lane has counted.
    struct Result: Sendable {
        let statistics: [CallStatistics]
        let seconds: [SecondRecord]
        let afterEndCount: Int
        let arrivals: RunReport.Arrivals?
        let side: SideCounts
    }

    /// Everything, once the workers have ended.
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
