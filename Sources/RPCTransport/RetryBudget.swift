import Synchronization

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
