/// How long to wait before something that failed is tried again: a bound that doubles from `first` up to `max`, and a random
/// wait in the upper half of it, so that many who failed together don't come back together. A pure value: chance is
/// passed in.
public struct Backoff: Sendable, Hashable {
    /// The bound of the first wait.
    public var first: Duration
    /// The largest bound.
    public var max: Duration

    /// A backoff with these bounds.
    public init(first: Duration, max: Duration) {
        self.first = first
        self.max = max
    }

    /// The wait before the next attempt.
    ///
    /// - Parameters:
    ///   - failures: how many attempts have failed in a row, at least 1.
    ///   - random: a number in `0..<1`. The wait is that far between half of the bound and all of it.
    public func wait(failures: Int, random: Double) -> Duration {
        // More doublings than any bound needs, and few enough not to overflow.
        let doublings = Swift.min(Swift.max(failures, 1) - 1, 30)
        let bound = Swift.min(first * (1 << doublings), max)
        return bound * (0.5 + random / 2)
    }
}
