import RPCTransport
import Synchronization

/// Spans that have ended and wait to be exported: bounded, filled by any thread, emptied by the exporter.
///
/// Nobody waits for it. It consists of several lists, each behind a lock that is only ever tried: an event loop has a list of
/// its own (loops past the last share), so that the lock is free unless the exporter takes the list away at that moment, which
/// is a swap of two pointers; then the next list is tried. A span that finds all of them taken, or the queue full, is dropped
/// and counted.
final class SpanQueue: Sendable {
    /// How many lists there are.
    private static let listCount = 8

    private final class List: Sendable {
        let spans = Mutex<[OTLPSpan]>([])
    }

    /// Spans that wait at most, those that the exporter has taken and not sent yet included.
    let capacity: Int
    private let lists: [List]
    private let waiting = Atomic<Int>(0)
    private let dropped = Atomic<UInt64>(0)

    init(capacity: Int) {
        self.capacity = capacity
        lists = (0..<Self.listCount).map { _ in List() }
    }

    /// How many wait.
    var count: Int { waiting.load(ordering: .relaxed) }
    /// How many found no room.
    var droppedCount: UInt64 { dropped.load(ordering: .relaxed) }

    /// Takes a span, or drops it. Any thread; never waits.
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

    /// Moves what waits to the end of `spans`. It counts as waiting until `release`. A list that a thread is just adding to
    /// stays until the next time. Never waits.
    func take(into spans: inout [OTLPSpan]) {
        for list in lists {
            var taken: [OTLPSpan] = []
            taken.reserveCapacity(min(capacity / Self.listCount, Self.reservedMax))
            guard list.spans.withLockIfAvailable({ swap(&$0, &taken) }) != nil else { continue }
            spans += taken
        }
    }

    /// A list has room for so many before it grows under its lock.
    private static let reservedMax = 256

    /// That many which were taken wait no more.
    func release(_ count: Int) { waiting.wrappingSubtract(count, ordering: .relaxed) }
}
