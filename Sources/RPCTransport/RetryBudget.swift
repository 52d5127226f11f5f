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

/// A channel's retry budget, shared by its loops. Any thread, without a lock.
final class RetryBudget: Sendable {
    private let max: Int
    private let ratio: Int
    private let count: Atomic<Int>

    init(_ policy: RetryPolicy) {
        let full = RetryTokens(policy)
        max = full.max
        ratio = full.ratio
        count = Atomic(full.count)
    }

    /// A call ended well. Nothing is written while the budget is full, so that loops do not disturb each other.
    func succeeded() {
        guard count.load(ordering: .relaxed) < max else { return }
        _ = change { $0.succeeded() }
    }

    /// An attempt failed. Whether it may be tried again.
    func failed() -> Bool { change { $0.failed() }.allowsRetry }

    private func change(_ body: (inout RetryTokens) -> Void) -> RetryTokens {
        var current = count.load(ordering: .relaxed)
        while true {
            var tokens = RetryTokens(max: max, ratio: ratio, count: current)
            body(&tokens)
            let (exchanged, original) = count.weakCompareExchange(
                expected: current,
                desired: tokens.count,
                ordering: .relaxed
            )
            if exchanged { return tokens }
            current = original
        }
    }
}
