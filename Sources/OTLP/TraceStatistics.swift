import Synchronization

/// The outcomes of a process's sampled spans. Any thread; counters only grow.
public final class TraceStatistics: Sendable {
    private let exportedSum = Atomic<UInt64>(0)
    private let failedSum = Atomic<UInt64>(0)
    private let rejectedSum = Atomic<UInt64>(0)
    private let queue: SpanQueue

    init(_ queue: SpanQueue) { self.queue = queue }

    /// Spans that the collector accepted.
    public var exported: UInt64 { exportedSum.load(ordering: .relaxed) }
    /// Spans that were dropped because the queue was full.
    public var dropped: UInt64 { queue.droppedCount }
    /// Spans that could not be sent.
    public var failed: UInt64 { failedSum.load(ordering: .relaxed) }
    /// Spans that the collector rejected in an accepted batch.
    public var rejected: UInt64 { rejectedSum.load(ordering: .relaxed) }
    /// Spans that wait now.
    public var waiting: Int { queue.count }

    func count(exported: Int = 0, failed: Int = 0, rejected: Int = 0) {
        exportedSum.wrappingAdd(UInt64(exported), ordering: .relaxed)
        failedSum.wrappingAdd(UInt64(failed), ordering: .relaxed)
        rejectedSum.wrappingAdd(UInt64(rejected), ordering: .relaxed)
    }
}
