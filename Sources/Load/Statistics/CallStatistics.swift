/// The statistics of one kind of calls.
public struct CallStatistics: Sendable {
    /// Latencies of successful calls. Failures aren't included: calls that fail immediately would make a server look fast.
    public private(set) var latency = LatencyHistogram()
    /// The failed calls.
    public private(set) var failures = FailureCounts()

    /// No calls yet.
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

    /// Adds the counts of another value.
    public mutating func add(_ other: CallStatistics) {
        latency.add(other.latency)
        failures.add(other.failures)
    }
}
