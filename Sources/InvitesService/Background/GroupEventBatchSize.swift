/// How many events the next look reads. A pure value.
///
/// A look that fails is retried with half as many events. So the deliverable events are delivered, and the failing one is found in the end.
/// States: whole pages → (failed) → searching → whole pages, once as many events passed as the failing look had.
struct GroupEventBatchSize: Sendable {
    private let max: Int
    /// The number of next events among which one makes looks fail; nil if none is known.
    private var trouble: Int?
    /// How often in a row the recipients of a single event couldn't be read.
    private(set) var failuresAlone = 0
    /// How often in a row the events couldn't be read.
    private(set) var failedReads = 0

    init(max: Int) { self.max = max }

    /// How many events to read.
    var count: Int { trouble.map { Swift.max(1, $0 / 2) } ?? max }

    /// Whether the last look failed, or the search for the failing event continues.
    var isSearching: Bool { trouble != nil }

    /// Records that this many events were delivered.
    mutating func succeeded(_ count: Int) {
        (failuresAlone, failedReads) = (0, 0)
        // An empty page ends the search: no event is left that could fail.
        trouble = count == 0 ? nil : trouble.flatMap { $0 > count ? $0 - count : nil }
    }

    /// Records that the recipients of this many events couldn't be read.
    mutating func failed(_ count: Int) {
        trouble = Swift.max(1, count)
        failedReads = 0
        if count <= 1 { failuresAlone += 1 }
    }

    /// Records that the events couldn't be read.
    mutating func failedToRead() {
        trouble = count
        failedReads += 1
    }
}
