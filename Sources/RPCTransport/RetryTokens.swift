import Synchronization

/// The tokens of a channel's retry budget (gRFC A6, retry throttling), in thousandths. A pure value.
struct RetryTokens: Sendable, Hashable {
    let max: Int
    let ratio: Int
    private(set) var count: Int

    init(_ policy: RetryPolicy) {
        max = Swift.max(1, policy.tokensMax) * 1000
        ratio = Swift.max(0, policy.tokenRatioThousandths)
        count = max
    }

    init(max: Int, ratio: Int, count: Int) {
        self.max = max
        self.ratio = ratio
        self.count = count
    }

    /// Whether calls are tried again: while more than half of the tokens are there.
    var allowsRetry: Bool { count > max / 2 }

    mutating func failed() { count = Swift.max(0, count - 1000) }
    mutating func succeeded() { count = Swift.min(max, count + ratio) }
}
