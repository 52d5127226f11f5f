import Glibc
import RPCTransport
import ServiceKit

/// Watches a run: prints each second's figures, ends the run on request, and adds up the counts of the lanes.
actor RunWatch {
    /// How long after the end of a second its figures are printed: the loops may have to finish a turn.
    private static let tellDelayNanoseconds: UInt64 = 20_000_000

    private let plan: LoadPlan
    private let lanes: [Lane]
    private let times: RunTimes
    private let console: LoadConsole
    /// The seconds that all lanes have reported.
    private var board: SecondsBoard
    private var toldCount = 0
    /// Whether the run was ended early.
    private var isInterrupted = false
    /// When measuring ended.
    private var measuredUntil: UInt64
    private var haveWorkersEnded = false
    private var meter: ProcessorMeter?
    /// The load generator's own processor time in the measured time.
    private var share: ProcessorShare?
    private var startedUnixSeconds: Int64 = 0

    init(plan: LoadPlan, lanes: [Lane], times: RunTimes, console: LoadConsole) {
        self.plan = plan
        self.lanes = lanes
        self.times = times
        self.console = console
        board = SecondsBoard(laneCount: lanes.count)
        measuredUntil = times.end
    }

    /// Watches until the workers have ended; returns the report.
    func run() async -> RunReport {
        if times.measureFrom > times.start { console.live("warming up for \(DurationText.format(plan.warmUp))") }
        while await wait(until: times.measureFrom) {}
        startedUnixSeconds = Int64(time(nil))
        meter = await ProcessorMeter(lanes.map(\.loop))
        var second: UInt64 = 1
        while !isOver {
            let boundary = min(times.measureFrom + second * 1_000_000_000, times.end)
            while await wait(until: boundary + Self.tellDelayNanoseconds) {}
            // Before the last calls end, which may take as long as the timeout of a call.
            if boundary == times.end || isOver { await readShare() }
            if !isOver || boundary == times.end { await collect() }
            second += 1
            if boundary == times.end { break }
        }
        while !haveWorkersEnded { try? await Task.sleep(for: .milliseconds(5)) }
        return await report()
    }

    /// Ends the run early: no more calls begin.
    func stop() async {
        let now = MonotonicTime.nanoseconds
        guard !isInterrupted, now < times.end else { return }
        isInterrupted = true
        measuredUntil = max(now, times.measureFrom)
        console.say("ending: waiting for calls in flight; press Ctrl-C again to end immediately")
        for lane in lanes { try? await lane.loop.run { lane.stop(atNanoseconds: now) } }
    }

    /// Called when all workers have ended.
    func workersEnded() { haveWorkersEnded = true }

    private var isOver: Bool { isInterrupted || haveWorkersEnded }

    /// Waits a little; false when the time has come, or the run is over.
    private func wait(until moment: UInt64) async -> Bool {
        let now = MonotonicTime.nanoseconds
        guard now < moment, !isInterrupted else { return false }
        // In short sleeps, so that an interruption is noticed.
        try? await Task.sleep(for: .nanoseconds(min(moment - now, 50_000_000)))
        return true
    }

    private func readShare() async {
        guard share == nil, let meter else { return }
        // Calls to the gateway also use the HTTP client's threads.
        var httpThreads = 0
        if case .edge = plan.target { httpThreads = plan.threadCount }
        share = await meter.share(lanes.map(\.loop), otherThreads: httpThreads)
    }

    private func collect() async {
        for lane in lanes {
            let parts = (try? await lane.loop.run { lane.takeSeconds() }) ?? []
            board.add(parts, measuredNanoseconds: times.end - times.measureFrom)
        }
        tellSeconds()
    }

    private func tellSeconds() {
        let totalSeconds = Int((plan.duration / .seconds(1)).rounded(.up))
        for second in board.seconds[toldCount...] {
            console.live(LiveLine.text(second, errorCount: board.errorCount, totalSeconds: totalSeconds))
        }
        toldCount = board.seconds.count
    }

    private func report() async -> RunReport {
        await readShare()
        let measured = measuredUntil - times.measureFrom
        var statistics = [CallStatistics](repeating: CallStatistics(), count: Operation.allCases.count)
        var (side, arrivals, afterEndCount) = (SideCounts(), RunReport.Arrivals(), 0)
        for lane in lanes {
            guard let result = try? await lane.loop.run({ lane.finish() }) else { continue }
            for (index, part) in result.statistics.enumerated() { statistics[index].add(part) }
            board.add(result.seconds, measuredNanoseconds: measured)
            side.add(result.side)
            if let part = result.arrivals { arrivals.add(part) }
            afterEndCount += result.afterEndCount
        }
        tellSeconds()
        console.finish()
        var report = RunReport(
            plan: plan,
            startedUnixSeconds: startedUnixSeconds,
            measuredNanoseconds: measured,
            rows: Operation.allCases.filter(plan.scenario.round.contains).map {
                RunReport.Row(name: $0.name, statistics: statistics[$0.rawValue])
            },
            seconds: board.seconds,
            processor: share ?? ProcessorShare(cores: 0, busiestThread: 0, machineCores: 1)
        )
        report.isInterrupted = isInterrupted
        report.afterEndCount = afterEndCount
        report.arrivals = plan.ratePerSecond == nil ? nil : arrivals
        report.side = side
        return report
    }
}
