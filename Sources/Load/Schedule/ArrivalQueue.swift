/// One event loop's part of an open loop: due calls wait here, in order, until a worker takes them. A pure value: the time
/// is passed in.
///
/// Calls that become due while the queue is full are dropped and counted: a slow server must be visible, and must not cost
/// unbounded memory.
public struct ArrivalQueue: Sendable {
    private let schedule: ArrivalSchedule
    private let countMax: Int
    /// Calls with an earlier start belong to the warm-up, and are not counted.
    private let measureFromNanoseconds: UInt64
    private let endNanoseconds: UInt64
    /// Intended starts, the oldest at `head`.
    private var starts: [UInt64] = []
    private var head = 0
    private var nextNumber = 0
    /// Calls of the measured time that were dropped.
    public private(set) var droppedCount = 0

    /// A queue.
    ///
    /// - Parameters:
    ///   - countMax: the maximum of waiting calls.
    ///   - measureFromNanoseconds: the end of the warm-up.
    ///   - endNanoseconds: no call begins from then on.
    public init(
        schedule: ArrivalSchedule,
        countMax: Int,
        measureFromNanoseconds: UInt64,
        endNanoseconds: UInt64
    ) {
        self.schedule = schedule
        self.countMax = countMax
        self.measureFromNanoseconds = measureFromNanoseconds
        self.endNanoseconds = endNanoseconds
    }

    /// The number of waiting calls.
    public var count: Int { starts.count - head }

    /// When the next call becomes due; nil after the last.
    public var nextDueNanoseconds: UInt64? {
        let start = schedule.start(of: nextNumber)
        return start < endNanoseconds ? start : nil
    }

    /// The intended start of the oldest call that is due by `now`; nil if there is none.
    public mutating func take(nowNanoseconds: UInt64) -> UInt64? {
        admit(nowNanoseconds)
        guard head < starts.count else { return nil }
        defer { advanceHead() }
        return starts[head]
    }

    private mutating func admit(_ now: UInt64) {
        while let start = nextDueNanoseconds, start <= now {
            nextNumber += 1
            if count < countMax {
                starts.append(start)
            } else if start >= measureFromNanoseconds {
                droppedCount += 1
            }
        }
    }

    private mutating func advanceHead() {
        head += 1
        // Moves the rest only when it is the smaller part, so that the cost of a call doesn't depend on the queue's length.
        if head * 2 >= starts.count {
            starts.removeFirst(head)
            head = 0
        }
    }
}
