/// Puts the loops' parts of each second together. A pure value.
struct SecondsBoard: Sendable {
    private let laneCount: Int
    private var records: [Int: (record: SecondRecord, parts: Int)] = [:]
    /// The seconds that all loops have told, in order.
    private(set) var seconds: [RunReport.Second] = []
    /// Errors in them.
    private(set) var errorCount = 0

    init(laneCount: Int) { self.laneCount = laneCount }

    /// Takes a loop's part; a second is complete with the last loop's.
    ///
    /// - Parameter measuredNanoseconds: how long was measured in all, which cuts the last second short.
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
            // What is shorter than a hundredth of a second tells nothing about a second.
            guard length >= 10_000_000 else { return }
            seconds.append(RunReport.Second(next.record, seconds: Double(length) / 1e9))
        }
    }
}
