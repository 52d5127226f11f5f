/// What one second saw.
public struct SecondRecord: Sendable {
    /// Which second of the measured time, from 0.
    public let index: Int
    /// Calls that succeeded in it, by latency.
    public internal(set) var latency = LatencyHistogram()
    /// Calls that failed in it.
    public internal(set) var failureCount = 0

    /// An empty second.
    public init(index: Int) { self.index = index }

    /// Adds another loop's part of the same second.
    public mutating func add(_ other: SecondRecord) {
        latency.add(other.latency)
        failureCount += other.failureCount
    }
}

/// Sorts calls into the seconds in which they ended. A pure value: times are passed in and never go back.
public struct Timeline: Sendable {
    private let startNanoseconds: UInt64
    private var endNanoseconds: UInt64
    private var current = SecondRecord(index: 0)
    /// Where the current second ends.
    private var boundaryNanoseconds: UInt64
    private var finished: [SecondRecord] = []
    /// Calls that ended after the measured time; they are in no second.
    public private(set) var afterEndCount = 0

    /// A timeline of the time between the two, its last second cut short where it is not a whole one.
    public init(startNanoseconds: UInt64, endNanoseconds: UInt64) {
        self.startNanoseconds = startNanoseconds
        self.endNanoseconds = endNanoseconds
        boundaryNanoseconds = startNanoseconds + 1_000_000_000
    }

    /// Counts a call that ended at `now`.
    @inline(__always)
    public mutating func record(latencyNanoseconds: UInt64, failed: Bool, nowNanoseconds: UInt64) {
        if nowNanoseconds >= boundaryNanoseconds { advance(nowNanoseconds) }
        if nowNanoseconds >= endNanoseconds {
            afterEndCount += 1
        } else if failed {
            current.failureCount += 1
        } else {
            current.latency.record(nanoseconds: latencyNanoseconds)
        }
    }

    /// Hands over the seconds that are over by `now`, each once; those without calls too.
    public mutating func takeFinished(nowNanoseconds: UInt64) -> [SecondRecord] {
        if nowNanoseconds >= boundaryNanoseconds { advance(nowNanoseconds) }
        defer { finished = [] }
        return finished
    }

    /// Hands over what is left, and the current second with it. Afterwards nothing may be recorded.
    public mutating func takeAll() -> [SecondRecord] { takeFinished(nowNanoseconds: 0) + [current] }

    /// The measured time ends sooner than planned.
    public mutating func end(atNanoseconds end: UInt64) { endNanoseconds = min(endNanoseconds, end) }

    private mutating func advance(_ now: UInt64) {
        while min(now, endNanoseconds - 1) >= boundaryNanoseconds {
            finished.append(current)
            current = SecondRecord(index: current.index + 1)
            boundaryNanoseconds += 1_000_000_000
        }
    }
}
