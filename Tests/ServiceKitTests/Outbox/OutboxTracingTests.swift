import RPC
import Synchronization
import Testing
import Tracing

@testable import OTLP
@testable import ServiceKit

/// What is told of an event is in the trace of the write that made it.
struct OutboxTracingTests {
    private struct Event: OutboxEvent {
        var failureCount = 0
        var trace: TraceContext?

        init(_ parent: String?) { trace = parent.flatMap { TraceContext(parent: $0) } }
    }

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

    private func deliver(_ events: [Event], _ body: () async throws -> Void = {}) async throws -> TraceContext? {
        var current: TraceContext?
        try await OutboxTracing(tracer, receiver: "invites").deliver(events) {
            current = TraceContext.current(of: tracer)
            try await body()
        }
        return current
    }

    @Test func `The calls of a delivery are in the trace of its event`() async throws {
        let current = try #require(try await deliver([Event(Self.first)]))
        let spans = ended
        #expect(spans.count == 1)
        let span = try #require(spans.first)
        #expect(current.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(span.identity.spanID == UInt64(current.spanID, radix: 16))
        #expect(span.parent?.spanID == 0xb7ad_6b71_6920_3331)
        #expect(span.operationName == "outbox invites" && span.kind == .producer && span.record.links.isEmpty)
    }

    @Test func `Of several each is seen in its own trace, with a link to the one of the calls`() async throws {
        let current = try #require(try await deliver([Event(nil), Event(Self.first), Event(Self.second)]))
        #expect(current.traceID == "0af7651916cd43dd8448eb211c80319c")
        let spans = ended
        #expect(spans.map { $0.parent?.spanID } == [0xb7ad_6b71_6920_3331, 0xc7ad_6b71_6920_3331])
        #expect(spans.map(\.record.links.count) == [0, 1])
        let link = spans.last?.record.links.first
        #expect(link?.context.spanIdentity?.spanID == UInt64(current.spanID, radix: 16))
    }

    @Test func `Events without a trace are told outside of any`() async throws {
        #expect(try await deliver([Event(nil), Event("no trace")]) == nil)
        #expect(ended.isEmpty)
    }

    @Test func `A failure is a failure of each`() async throws {
        do {
            _ = try await deliver([Event(Self.first), Event(Self.second)]) { throw Refused() }
            Issue.record("it was delivered")
        } catch is Refused {}
        #expect(ended.map { $0.record.status?.code } == [.error, .error])
    }
}
