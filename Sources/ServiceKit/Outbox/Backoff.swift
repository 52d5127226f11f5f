/// How long to wait before trying again: doubling from `first` to `max`, with full jitter.
public struct Backoff: Sendable, Hashable {
    /// The upper bound of the first wait.
    public var first: Duration
    /// The upper bound of every wait.
    public var max: Duration

    /// A backoff.
    public init(first: Duration, max: Duration) {
        self.first = first
        self.max = max
    }

    /// The wait before the next try.
    ///
    /// - Parameters:
    ///   - attempt: how many tries failed before the last, from 0.
    ///   - random: a number in 0..<1. The wait is never under a tenth of the bound, so that it is a wait at all.
    public func delay(attempt: Int, random: Double) -> Duration {
        let doublings = Swift.min(Swift.max(attempt, 0), 30)
        let bound = Swift.min(first * (1 << doublings), max)
        return bound * (0.1 + 0.9 * random)
    }
}
