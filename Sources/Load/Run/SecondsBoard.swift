/// Adds up the loops' parts of each second. A pure value.
struct SecondsBoard: Sendable {
    private let laneCount: Int
    private var records: [Int: (record: SecondRecord, parts: Int)] = [:]
    /// The complete seconds, in order: those that all loops have reported.
    private(set) var seconds: [RunReport.Second] = []
    /// The errors in them.
    private(set) var errorCount = 0

    init(laneCount: Int) { self.laneCount = laneCount }

    /// Adds a loop's part; a second is complete when all loops have reported it.
    ///
    /// - Parameter measuredNanoseconds: the length of the measured time, which may end within the last second.
    mutating func add(_ parts: [SecondRecord], measuredNanoseconds: UInt64) {
        for part in parts {
            if let there = records[part.index] {
                var record = there.record
                record.add(part)
                records[part.index] = (record, there.parts + 1)
            } else {
                records[part.index] = (part, 1)
            }
        }
        while let next = records[seconds.count], next.parts == laneCount {
            records[seconds.count] = nil
            let begin = UInt64(seconds.count) * 1_000_000_000
            let length = measuredNanoseconds > begin ? min(measuredNanoseconds - begin, 1_000_000_000) : 0
            errorCount += next.record.failureCount
            // A part shorter than a hundredth of a second is too short for a rate.
            guard length >= 10_000_000 else { return }
            seconds.append(RunReport.Second(next.record, seconds: Double(length) / 1e9))
        }
    }
}
