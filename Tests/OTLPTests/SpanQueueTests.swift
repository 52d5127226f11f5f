import RPCTransport
import Testing
import Tracing

@testable import OTLP

struct SpanQueueTests {
    private func span(_ queue: SpanQueue) -> OTLPSpan {
        let identity = SpanIdentity(traceHigh: 1, traceLow: 1, spanID: .random(in: 1 ... .max), isSampled: true)
        return OTLPSpan(
            name: "x",
            context: .topLevel,
            identity: identity,
            parent: nil,
            kind: .internal,
            startNanoseconds: 0,
            queue: queue
        )
    }

    @Test func `Spans beyond the capacity are dropped and counted`() {
        let queue = SpanQueue(capacity: 10)
        for _ in 0..<15 { queue.append(span(queue)) }
        #expect(queue.count == 10 && queue.droppedCount == 5)
        var taken: [OTLPSpan] = []
        queue.take(into: &taken)
        #expect(taken.count == 10 && queue.count == 10, "they count until they are gone")
        queue.append(span(queue))
        #expect(queue.droppedCount == 6)
        queue.release(4)
        for _ in 0..<5 { queue.append(span(queue)) }
        #expect(queue.count == 10 && queue.droppedCount == 7)
    }

    /// Threads add while one takes: each span is taken once, or counted as dropped.
    @Test(.timeLimit(.minutes(5))) func `Nothing is lost uncounted`() async throws {
        let queue = SpanQueue(capacity: 500)
        let group = try EventLoopGroup(loopCount: 4, name: "queue")
        let spansOfEach = 20_000
        let ids = try await withThrowingTaskGroup(of: Void.self) { tasks in
            for loop in group.loops {
                tasks.addTask {
                    try await loop.run { for _ in 0..<spansOfEach { queue.append(self.span(queue)) } }
                }
            }
            var ids: [UInt64] = []
            var taken: [OTLPSpan] = []
            while UInt64(ids.count) + queue.droppedCount < UInt64(4 * spansOfEach) {
                queue.take(into: &taken)
                ids += taken.map(\.identity.spanID)
                queue.release(taken.count)
                taken = []
            }
            try await tasks.waitForAll()
            return ids
        }
        await group.shutdown()
        #expect(Set(ids).count == ids.count && !ids.isEmpty)
        #expect(queue.count == 0)
        #expect(UInt64(ids.count) + queue.droppedCount == UInt64(4 * spansOfEach))
    }
}
