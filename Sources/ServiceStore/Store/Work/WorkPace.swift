/// How many items are handed to one call: half as many after a call that failed as a whole, so that an item at fault ends up alone and
/// a slow receiver gets what it can do in time; twice as many while it is quick. A pure value.
struct WorkPace: Hashable {
    /// The maximum.
    let max: Int
    /// A call that took longer leaves the number as it is.
    let quick: Duration
    /// The number for the next call.
    private(set) var count: Int

    init(max: Int, quick: Duration) {
        self.max = Swift.max(1, max)
        self.quick = quick
        count = self.max
    }

    /// Records a successful call.
    mutating func succeeded(took: Duration) {
        if took <= quick { count = min(max, count * 2) }
    }

    /// Records that the receiver rejected a call with so many items, or failed on it.
    mutating func failed(_ items: Int) { count = Swift.max(1, min(count, items) / 2) }
}
