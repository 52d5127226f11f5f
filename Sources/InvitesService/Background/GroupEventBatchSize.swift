/// How many events the next look reads. A pure value.
///
/// A look that fails is tried with half as many, so that what can be delivered is, and what makes it fail is found alone in the end.
/// States: whole pages → (failed) → searching → whole pages, once as many events passed as the failing look had.
struct GroupEventBatchSize: Sendable {
    private let max: Int
    /// Something within the next so many events makes looks fail; nil if nothing is known to.
    private var trouble: Int?
    /// How often in a row the recipients of a single event couldn't be read.
    private(set) var failuresAlone = 0
    /// How often in a row the events couldn't be read.
    private(set) var failedReads = 0

    init(max: Int) { self.max = max }

    /// How many events to read.
    var count: Int { trouble.map { Swift.max(1, $0 / 2) } ?? max }

    /// Whether the last look failed, or the search for what made one fail goes on.
    var isSearching: Bool { trouble != nil }

    /// So many events were delivered.
    mutating func succeeded(_ count: Int) {
        (failuresAlone, failedReads) = (0, 0)
        // An empty page ends the search: nothing is left that could fail.
        trouble = count == 0 ? nil : trouble.flatMap { $0 > count ? $0 - count : nil }
    }

    /// The recipients of so many events couldn't be read.
    mutating func failed(_ count: Int) {
        trouble = Swift.max(1, count)
        failedReads = 0
        if count <= 1 { failuresAlone += 1 }
    }

    /// The events couldn't be read.
    mutating func failedToRead() {
        trouble = count
        failedReads += 1
    }
}
