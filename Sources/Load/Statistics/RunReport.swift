/// The results of a run. Pure: the renderers make a table, JSON and a page of it.
public struct RunReport: Sendable {
    /// One kind of call, or all together.
    public struct Row: Sendable {
        /// The operation's name, or `all`.
        public let name: String
        /// Its calls.
        public let statistics: CallStatistics

        /// A row.
        public init(name: String, statistics: CallStatistics) {
            self.name = name
            self.statistics = statistics
        }
    }

    /// One second of the measured time.
    public struct Second: Sendable, Hashable {
        /// The index of the second, from 0.
        public let index: Int
        /// Successful calls per second; the rate of a shorter last second is scaled to a whole one.
        public let ratePerSecond: Double
        /// Failed calls per second, likewise.
        public let failuresPerSecond: Double
        /// Latencies of successful calls.
        public let p50Nanoseconds: UInt64
        /// Latencies of successful calls.
        public let p99Nanoseconds: UInt64

        /// A second of these figures.
        init(
            index: Int,
            ratePerSecond: Double,
            failuresPerSecond: Double,
            p50Nanoseconds: UInt64,
            p99Nanoseconds: UInt64
        ) {
            self.index = index
            self.ratePerSecond = ratePerSecond
            self.failuresPerSecond = failuresPerSecond
            self.p50Nanoseconds = p50Nanoseconds
            self.p99Nanoseconds = p99Nanoseconds
        }

        /// Computes a second's figures from its record.
        ///
        /// - Parameter seconds: how much of the second was measured.
        public init(_ record: SecondRecord, seconds: Double) {
            index = record.index
            ratePerSecond = Double(record.latency.count) / seconds
            failuresPerSecond = Double(record.failureCount) / seconds
            p50Nanoseconds = record.latency.nanoseconds(percentile: 50)
            p99Nanoseconds = record.latency.nanoseconds(percentile: 99)
        }
    }

    /// The arrivals of an open loop.
    public struct Arrivals: Sendable, Hashable {
        /// Calls that began more than `lateNanoseconds` after their intended start.
        public var lateCount = 0
        /// The longest delay between intended and actual start, in nanoseconds.
        public var delayNanosecondsMax: UInt64 = 0
        /// Calls that were dropped because the queue was full.
        public var droppedCount = 0
        /// Calls that were due but had not begun at the end.
        public var waitingAtEndCount = 0

        /// No arrivals.
        public init() {}

        /// Adds another loop's part.
        public mutating func add(_ other: Arrivals) {
            lateCount += other.lateCount
            delayNanosecondsMax = max(delayNanosecondsMax, other.delayNanosecondsMax)
            droppedCount += other.droppedCount
            waitingAtEndCount += other.waitingAtEndCount
        }
    }

    /// From this delay on a start counts as late.
    public static let lateNanoseconds: UInt64 = 1_000_000

    /// The plan of the run.
    public var plan: LoadPlan
    /// When the measured time began, in Unix seconds.
    public var startedUnixSeconds: Int64
    /// The length of the measured time, in nanoseconds.
    public var measuredNanoseconds: UInt64
    /// Whether the run was interrupted.
    public var isInterrupted = false
    /// The calls by kind; only kinds that were called.
    public var rows: [Row]
    /// The figures of each second.
    public var seconds: [Second]
    /// Calls that began in the measured time and ended after it.
    public var afterEndCount = 0
    /// The arrivals of an open loop; nil for a closed one.
    public var arrivals: Arrivals?
    /// What workers did beside their calls.
    public var side = SideCounts()
    /// The load generator's own processor time.
    public var processor: ProcessorShare

    /// A report of the required parts.
    public init(
        plan: LoadPlan,
        startedUnixSeconds: Int64,
        measuredNanoseconds: UInt64,
        rows: [Row],
        seconds: [Second],
        processor: ProcessorShare
    ) {
        self.plan = plan
        self.startedUnixSeconds = startedUnixSeconds
        self.measuredNanoseconds = measuredNanoseconds
        self.rows = rows
        self.seconds = seconds
        self.processor = processor
    }

    /// All kinds together.
    public var total: Row {
        if rows.count == 1 { return Row(name: "all", statistics: rows[0].statistics) }
        var all = CallStatistics()
        for row in rows { all.add(row.statistics) }
        return Row(name: "all", statistics: all)
    }

    /// The length of the measured time, in seconds.
    public var measuredSeconds: Double { Double(measuredNanoseconds) / 1e9 }

    /// The number for `--errors-max`: failed calls, and dropped calls of an open loop.
    public var errorCount: Int {
        rows.reduce(0) { $0 + $1.statistics.failures.total } + (arrivals?.droppedCount ?? 0)
    }

    /// Successful calls per second of a row.
    public func ratePerSecond(_ row: Row) -> Double {
        measuredNanoseconds == 0 ? 0 : Double(row.statistics.latency.count) / measuredSeconds
    }

    /// Processor time of the load generator for each call, in microseconds; nil without calls.
    public var microsecondsPerCall: Double? {
        let calls = rows.reduce(0) { $0 + $1.statistics.callCount }
        return calls == 0 ? nil : processor.cores * measuredSeconds * 1e6 / Double(calls)
    }
}

/// What workers did beside the measured calls.
public struct SideCounts: Sendable, Hashable {
    /// Access tokens that had expired; the call was repeated after a refresh, and its latency covers both.
    public var expiredTokenCount = 0
    /// Proofs of a user that were too old for profile; the call was made after a CheckSession, and its latency covers both.
    public var renewedProofCount = 0
    /// Refreshes with a lost response that later succeeded with the same token.
    public var resumedRefreshCount = 0
    /// Sessions that had ended, so that the account signed in again.
    public var repeatedSignInCount = 0
    /// Provider tokens that were fetched during the run, because the prepared ones were used up.
    public var lateTokenCount = 0

    /// Nothing.
    public init() {}

    /// Adds all of another's.
    public mutating func add(_ other: SideCounts) {
        expiredTokenCount += other.expiredTokenCount
        renewedProofCount += other.renewedProofCount
        resumedRefreshCount += other.resumedRefreshCount
        repeatedSignInCount += other.repeatedSignInCount
        lateTokenCount += other.lateTokenCount
    }
}

/// The load generator's own processor time.
public struct ProcessorShare: Sendable, Hashable {
    /// From this share of one core on, a thread counts as always busy.
    public static let busyShare = 0.9

    /// The number of cores that all its threads used together.
    public let cores: Double
    /// The share of a core that its busiest calling thread used.
    public let busiestThread: Double
    /// The machine's cores.
    public let machineCores: Int

    /// Shares.
    public init(cores: Double, busiestThread: Double, machineCores: Int) {
        self.cores = cores
        self.busiestThread = busiestThread
        self.machineCores = machineCores
    }

    /// Whether the figures may be the load generator's limit and not the server's.
    public var isLimit: Bool { busiestThread >= Self.busyShare }
}
