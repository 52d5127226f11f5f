import CRPC
import RPC

/// What is known of the calls of one method that have ended.
public struct CallStatistics: Sendable {
    /// The method's path, or `other` for requests to paths that nothing is registered under.
    public let method: String
    /// How many ended, by the number of their status.
    public internal(set) var ended: [UInt64]
    /// How long they took.
    public internal(set) var took: TimeStatistics

    init(method: String, _ raw: crpc_call_stats) {
        self.method = method
        var raw = raw
        ended = counters(&raw.ended, of: UInt64.self)
        took = TimeStatistics(counts: counters(&raw.took, of: UInt64.self), sumNanoseconds: raw.took_ns)
    }

    /// How many ended.
    public var count: UInt64 { ended.reduce(0, +) }

    mutating func add(_ other: CallStatistics) {
        for index in ended.indices { ended[index] += other.ended[index] }
        took.add(other.took)
    }
}

/// How long things took, as a histogram.
public struct TimeStatistics: Sendable {
    /// The upper bounds in nanoseconds, rising, from 50 µs to 10 s.
    public static let boundsNanoseconds: [UInt64] = withUnsafeBytes(of: crpc_time_bounds_ns) {
        Array($0.bindMemory(to: UInt64.self))
    }
    /// The histogram's buckets, one for each bound; the last counts what exceeded every bound.
    public internal(set) var counts: [UInt64]
    /// All of them together.
    public internal(set) var sumNanoseconds: UInt64

    /// None.
    public init() {
        counts = Array(repeating: 0, count: Self.boundsNanoseconds.count + 1)
        sumNanoseconds = 0
    }

    init(counts: [UInt64], sumNanoseconds: UInt64) {
        self.counts = counts
        self.sumNanoseconds = sumNanoseconds
    }

    /// Adds one.
    public mutating func count(nanoseconds: UInt64) {
        counts[Self.boundsNanoseconds.firstIndex { nanoseconds <= $0 } ?? counts.count - 1] += 1
        sumNanoseconds &+= nanoseconds
    }

    mutating func add(_ other: TimeStatistics) {
        for index in counts.indices { counts[index] += other.counts[index] }
        sumNanoseconds += other.sumNanoseconds
    }
}

/// The numbers of a C array, which Swift imports as a tuple.
func counters<Tuple, Number: BitwiseCopyable>(_ tuple: inout Tuple, of: Number.Type) -> [Number] {
    withUnsafeBytes(of: &tuple) { Array($0.bindMemory(to: Number.self)) }
}

extension [CallTable] {
    /// The sums of rows with the same index, for those methods, in their order.
    func sums(_ methods: [String]) -> [CallStatistics] {
        guard let first else { return [] }
        return methods.enumerated().map { row, method in
            var sum = first.read(row: row, method: method)
            for table in dropFirst() { sum.add(table.read(row: row, method: method)) }
            return sum
        }
    }
}
