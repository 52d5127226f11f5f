import RPCTransport
import Synchronization

/// A bounded queue of ended spans that wait for export. Any thread adds spans; the exporter takes them.
///
/// It never blocks. It consists of several lists, each behind a lock that is only tried. Each event loop has its own list
/// (further loops share), so its lock is free unless the exporter is taking the list, which is a swap of two pointers; then
/// the next list is tried. If all lists are locked, or the queue is full, the span is dropped and counted.
final class SpanQueue: Sendable {
    /// The number of lists.
    private static let listCount = 8

    private final class List: Sendable {
        let spans = Mutex<[OTLPSpan]>([])
    }

    /// The maximum of waiting spans, including those that the exporter has taken but not sent.
    let capacity: Int
    private let lists: [List]
    private let waiting = Atomic<Int>(0)
    private let dropped = Atomic<UInt64>(0)

    init(capacity: Int) {
        self.capacity = capacity
        lists = (0..<Self.listCount).map { _ in List() }
    }

    /// The number of waiting spans.
    var count: Int { waiting.load(ordering: .relaxed) }
    /// The number of dropped spans.
    var droppedCount: UInt64 { dropped.load(ordering: .relaxed) }

    /// Adds a span, or drops it. Any thread; never waits.
    func append(_ span: OTLPSpan) {
        guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= capacity else { return drop() }
        let first = EventLoop.current?.index ?? Int(truncatingIfNeeded: span.identity.spanID)
        for turn in 0..<Self.listCount {
            let list = lists[(first &+ turn) & (Self.listCount - 1)]
            if list.spans.withLockIfAvailable({ $0.append(span) }) != nil { return }
        }
        drop()
    }

    private func drop() {
        waiting.wrappingSubtract(1, ordering: .relaxed)
        dropped.wrappingAdd(1, ordering: .relaxed)
    }

    /// Moves the waiting spans to the end of `spans`. They count as waiting until `release`. A list that a thread is adding to
    /// is left for the next time. Never waits.
    func take(into spans: inout [OTLPSpan]) {
        for list in lists {
            var taken: [OTLPSpan] = []
            taken.reserveCapacity(min(capacity / Self.listCount, Self.reservedMax))
            guard list.spans.withLockIfAvailable({ swap(&$0, &taken) }) != nil else { continue }
            spans += taken
        }
    }

    /// The initial capacity of a list, before it grows under its lock.
    private static let reservedMax = 256

    /// Reports that this number of taken spans no longer waits.
    func release(_ count: Int) { waiting.wrappingSubtract(count, ordering: .relaxed) }
}
