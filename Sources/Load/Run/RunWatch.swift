import Glibc
import RPCTransport
import ServiceKit

/// Looks at a run from beside it: tells each second as it goes by, ends the run when it is told to, and puts together
/// what the lanes have counted.
actor RunWatch {
    /// How long after a second's end it is told: the loops may have a turn to finish.
    private static let tellDelayNanoseconds: UInt64 = 20_000_000

    private let plan: LoadPlan
    private let lanes: [Lane]
    private let times: RunTimes
    private let console: LoadConsole
    private var board: SecondsBoard
    private var toldCount = 0
    private var isInterrupted = false
    /// When measuring ended.
    private var measuredUntil: UInt64
    private var haveWorkersEnded = false
    private var meter: ProcessorMeter?
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

    /// Watches until the workers have ended; the report then.
    func run() async -> RunReport {
        if times.measureFrom > times.start { console.live("warming up for \(DurationText.format(plan.warmUp))") }
        while await wait(until: times.measureFrom) {}
        startedUnixSeconds = Int64(time(nil))
        meter = await ProcessorMeter(lanes.map(\.loop))
        var second: UInt64 = 1
        while !isOver {
            let boundary = min(times.measureFrom + second * 1_000_000_000, times.end)
            while await wait(until: boundary + Self.tellDelayNanoseconds) {}
            // Before the last calls end, which may take as long as a call may.
            if boundary == times.end || isOver { await readShare() }
            if !isOver || boundary == times.end { await collect() }
            second += 1
            if boundary == times.end { break }
        }
        while !haveWorkersEnded { try? await Task.sleep(for: .milliseconds(5)) }
        return await report()
    }

    /// Ends the run before its time: no call begins any more.
    func stop() async {
        let now = MonotonicTime.nanoseconds
        guard !isInterrupted, now < times.end else { return }
        isInterrupted = true
        measuredUntil = max(now, times.measureFrom)
        console.say("ending: calls in flight are waited for; Ctrl-C again ends at once")
        for lane in lanes { try? await lane.loop.run { lane.stop(atNanoseconds: now) } }
    }

    /// No worker calls any more.
    func workersEnded() { haveWorkersEnded = true }

    private var isOver: Bool { isInterrupted || haveWorkersEnded }

    /// Waits a little; false when the moment has come, or the run is over.
    private func wait(until moment: UInt64) async -> Bool {
        let now = MonotonicTime.nanoseconds
        guard now < moment, !isInterrupted else { return false }
        // In parts, so that an interruption is noticed.
        try? await Task.sleep(for: .nanoseconds(min(moment - now, 50_000_000)))
        return true
    }

    private func readShare() async {
        guard share == nil, let meter else { return }
        // Of the edge the calls are made by the HTTP client's threads too.
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
