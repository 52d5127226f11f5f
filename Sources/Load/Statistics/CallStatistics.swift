/// What is known of the calls of one kind.
public struct CallStatistics: Sendable {
    /// Latencies of the calls that succeeded. Failures have none here: those that fail at once would make a server look
    /// fast.
    public private(set) var latency = LatencyHistogram()
    /// The others.
    public private(set) var failures = FailureCounts()

    /// Nothing yet.
    public init() {}

    /// All calls.
    public var callCount: Int { Int(latency.count) + failures.total }

    /// Counts a call.
    @inline(__always)
    public mutating func record(latencyNanoseconds: UInt64, failure: CallFailure?) {
        if let failure {
            failures.add(failure)
        } else {
            latency.record(nanoseconds: latencyNanoseconds)
        }
    }

    /// Adds all of another's.
    public mutating func add(_ other: CallStatistics) {
        latency.add(other.latency)
        failures.add(other.failures)
    }
}
