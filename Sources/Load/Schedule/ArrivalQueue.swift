/// One loop's part of an open loop: calls that are due wait here, in order, until a worker takes them. A pure value:
/// the time is passed in.
///
/// What comes while the queue is full is dropped and counted: a server that cannot follow must not be hidden, and must
/// not cost unbounded memory either.
public struct ArrivalQueue: Sendable {
    private let schedule: ArrivalSchedule
    private let countMax: Int
    /// Calls before it are warm-up and not counted.
    private let measureFromNanoseconds: UInt64
    private let endNanoseconds: UInt64
    /// Intended starts, the oldest at `head`.
    private var starts: [UInt64] = []
    private var head = 0
    private var nextNumber = 0
    /// Calls of the measured time for which there was no room.
    public private(set) var droppedCount = 0

    /// A queue.
    ///
    /// - Parameters:
    ///   - countMax: how many calls may wait.
    ///   - measureFromNanoseconds: where warm-up ends.
    ///   - endNanoseconds: no call is to begin from here on.
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

    /// Calls that wait.
    public var count: Int { starts.count - head }

    /// When the next call becomes due; nil once there is none any more.
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
        // Moves the rest only when it is the smaller part, so that a call costs the same however many wait.
        if head * 2 >= starts.count {
            starts.removeFirst(head)
            head = 0
        }
    }
}
