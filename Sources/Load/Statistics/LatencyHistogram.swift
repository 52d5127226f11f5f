import Histogram

/// Latencies in an HDR histogram: any percentile to three significant digits, in memory that does not grow.
public struct LatencyHistogram: Sendable {
    /// The maximum latency; longer ones count as this.
    public static let nanosecondsMax: UInt64 = 600_000_000_000

    private var histogram = Histogram<UInt64>(
        highestTrackableValue: Self.nanosecondsMax,
        numberOfSignificantValueDigits: .three
    )

    /// An empty histogram, of about 250 KB.
    public init() {}

    /// The number of recorded latencies.
    public var count: UInt64 { histogram.totalCount }

    /// Adds a latency.
    @inline(__always)
    public mutating func record(nanoseconds: UInt64) {
        histogram.record(min(nanoseconds, Self.nanosecondsMax))
    }

    /// Adds the counts of another value.
    public mutating func add(_ other: LatencyHistogram) { histogram.add(other.histogram) }

    /// The latency, in nanoseconds, that this share of the calls did not exceed; 0 without calls.
    public func nanoseconds(percentile: Double) -> UInt64 { count == 0 ? 0 : histogram.valueAtPercentile(percentile) }

    /// The shortest latency in nanoseconds; 0 without calls.
    public var minNanoseconds: UInt64 { count == 0 ? 0 : histogram.min }

    /// The longest latency in nanoseconds; 0 without calls.
    public var maxNanoseconds: UInt64 { count == 0 ? 0 : histogram.maxRecorded }

    /// The mean in nanoseconds; 0 without calls.
    public var meanNanoseconds: Double { count == 0 ? 0 : histogram.mean }
}
