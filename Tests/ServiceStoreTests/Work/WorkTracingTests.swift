import RPC
import Synchronization
import Testing
import Tracing

@testable import OTLP
@testable import ServiceStore

/// Work is in the trace of the write that made it.
struct WorkTracingTests {
    private struct Refused: Error {}

    private let tracer = OTLPTracer(OTLPConfiguration(target: "127.0.0.1:1", serviceName: "test"))
    private static let first = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    private static let second = "00-1af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01"

    /// The spans that ended, in the order of their parents.
    private var ended: [OTLPSpan] {
        var spans: [OTLPSpan] = []
        tracer.queue.take(into: &spans)
        return spans.sorted { ($0.parent?.spanID ?? 0) < ($1.parent?.spanID ?? 0) }
    }

    private func perform(_ parents: [String?], _ body: () async throws -> Void = {}) async throws -> TraceContext? {
        var current: TraceContext?
        let traces = parents.compactMap { $0 }.compactMap { TraceContext(parent: $0) }
        try await WorkTracing(tracer, queue: "phone_events").perform(traces, itemCount: parents.count) {
            current = TraceContext.current(of: tracer)
            try await body()
        }
        return current
    }

    @Test func `A call is in the trace of its item`() async throws {
        let current = try #require(try await perform([Self.first]))
        let spans = ended
        #expect(spans.count == 1)
        let span = try #require(spans.first)
        #expect(current.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(span.identity.spanID == UInt64(current.spanID, radix: 16))
        #expect(span.parent?.spanID == 0xb7ad_6b71_6920_3331)
        #expect(span.operationName == "work phone_events" && span.kind == .producer && span.record.links.isEmpty)
    }

    @Test func `Each of several items is seen in its own trace, with a link to that of the call`() async throws {
        let current = try #require(try await perform([nil, Self.first, Self.second]))
        #expect(current.traceID == "0af7651916cd43dd8448eb211c80319c")
        let spans = ended
        #expect(spans.map { $0.parent?.spanID } == [0xb7ad_6b71_6920_3331, 0xc7ad_6b71_6920_3331])
        #expect(spans.map(\.record.links.count) == [0, 1])
        let link = spans.last?.record.links.first
        #expect(link?.context.spanIdentity?.spanID == UInt64(current.spanID, radix: 16))
    }

    @Test func `Items without a trace are done outside of any`() async throws {
        #expect(try await perform([nil, "no trace"]) == nil)
        #expect(ended.isEmpty)
    }

    @Test func `A failure is a failure of each item`() async throws {
        do {
            _ = try await perform([Self.first, Self.second]) { throw Refused() }
            Issue.record("it was delivered")
        } catch is Refused {}
        #expect(ended.map { $0.record.status?.code } == [.error, .error])
    }
}
