/// The calls that ended in one second.
public struct SecondRecord: Sendable {
    /// The index of the second in the measured time, from 0.
    public let index: Int
    /// Successful calls, by latency.
    public internal(set) var latency = LatencyHistogram()
    /// Failed calls.
    public internal(set) var failureCount = 0

    /// An empty second.
    public init(index: Int) { self.index = index }

    /// Adds another loop's part of the same second.
    public mutating func add(_ other: SecondRecord) {
        latency.add(other.latency)
        failureCount += other.failureCount
    }
}

/// Counts calls in the seconds in which they ended. A pure value: times are passed in and never go back.
public struct Timeline: Sendable {
    private let startNanoseconds: UInt64
    private var endNanoseconds: UInt64
    private var current = SecondRecord(index: 0)
    /// The end of the current second.
    private var boundaryNanoseconds: UInt64
    private var finished: [SecondRecord] = []
    /// Calls that ended after the measured time; they belong to no second.
    public private(set) var afterEndCount = 0

    /// A timeline between the two times; its last second may be shorter than a second.
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

    /// Returns the seconds that ended by `now`, each once, even those without calls.
    public mutating func takeFinished(nowNanoseconds: UInt64) -> [SecondRecord] {
        if nowNanoseconds >= boundaryNanoseconds { advance(nowNanoseconds) }
        defer { finished = [] }
        return finished
    }

    /// Returns the remaining seconds, with the current one. No calls may be recorded afterwards.
    public mutating func takeAll() -> [SecondRecord] { takeFinished(nowNanoseconds: 0) + [current] }

    /// Moves the end of the measured time to an earlier time.
    public mutating func end(atNanoseconds end: UInt64) { endNanoseconds = min(endNanoseconds, end) }

    private mutating func advance(_ now: UInt64) {
        while min(now, endNanoseconds - 1) >= boundaryNanoseconds {
            finished.append(current)
            current = SecondRecord(index: current.index + 1)
            boundaryNanoseconds += 1_000_000_000
        }
    }
}
