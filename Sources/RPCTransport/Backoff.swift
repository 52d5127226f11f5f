import RPC

/// Growing waits with jitter (gRPC connection backoff protocol). A pure value: randomness is passed in.
struct Backoff: Sendable {
    private let first: Duration
    private let max: Duration
    private var current: Duration

    init(first: Duration, max: Duration) {
        self.first = first
        self.max = max
        current = first
    }

    /// The next wait: four fifths to six fifths of a base that doubles up to the maximum.
    mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
        let base = current
        current = Swift.min(max, current * 2)
        return .nanoseconds(
            Int64(clamping: base.wholeNanoseconds / 1000 * UInt64.random(in: 800...1200, using: &random))
        )
    }

    /// Begins anew, after a success.
    mutating func reset() { current = first }
}
