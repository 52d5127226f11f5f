/// Growing waits with jitter (gRPC connection backoff protocol). A pure value: chance is passed in.
struct Backoff: Sendable {
    private let first: Duration
    private let max: Duration
    private var current: Duration

    init(first: Duration, max: Duration) {
        self.first = first
        self.max = max
        current = first
    }

    /// The next wait: four fifths to six fifths, as `chance` from 0 to 1 chooses, of a base that doubles up to the
    /// maximum.
    mutating func next(chance: Double) -> Duration {
        let base = current
        current = Swift.min(max, current * 2)
        return base * (0.8 + 0.4 * chance)
    }

    /// Begins anew, after a success.
    mutating func reset() { current = first }
}
